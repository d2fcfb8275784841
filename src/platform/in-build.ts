import Modules from "modules";

/** The default export of a module that a build may leave out; undefined if no manifest of the build names it. */
export function inBuild<Export>(module: string): Export | undefined {
	return Modules.has(module) ? (Modules.importNow(module) as Export) : undefined;
}
