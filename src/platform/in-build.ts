import Modules from "modules";

/** Whether a module is in the build, or in the mod that is installed beside it. */
export const hasModule = (module: string): boolean => Modules.has(module);

/** The default export of a module that a build may leave out; undefined if no manifest of the build names it. */
export const inBuild = <Export>(module: string): Export | undefined =>
	hasModule(module) ? (Modules.importNow(module) as Export) : undefined;

/** The default export of the SDK's driver of a chip, by its name in lower case: "mpu6886". Undefined if the build lacks it. */
export const findDriver = <Driver>(chip: string): Driver | undefined => {
	const module = Modules.host.find((name) => name.startsWith("embedded:") && name.toLowerCase().endsWith(`/${chip}`));
	return module === undefined ? undefined : (Modules.importNow(module) as Driver);
};
