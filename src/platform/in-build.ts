import Modules from "modules";

/** The default export of a module that a build may leave out; undefined if no manifest of the build names it. */
export const inBuild = <Export>(module: string): Export | undefined =>
	Modules.has(module) ? (Modules.importNow(module) as Export) : undefined;

/** The default exports of the modules of a folder, in the order of their names: the manifests of the build name them. */
export const allInBuild = <Export>(folder: string): readonly Export[] => {
	const modules = Modules.host.filter((name) => name.startsWith(folder)).sort();
	return modules.map((module) => Modules.importNow(module) as Export);
};
