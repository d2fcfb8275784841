import Modules from "modules";

/** The default export of a module that a build may leave out; undefined if no manifest of the build names it. */
export const inBuild = <Export>(module: string): Export | undefined =>
	Modules.has(module) ? (Modules.importNow(module) as Export) : undefined;
