import Modules from "modules";
import type { BuildAddons } from "../app/addons.js";

/** The module that a feature begins with, in the feature's folder. */
const FEATURE = "/feature";

/**
 * The features of the build, by the names of their folders.
 *
 * @param names only these. Default: all
 */
export const findFeatures = (names?: readonly string[]): BuildAddons => {
	const modules = Modules.host
		.filter((module) => module.startsWith("src/") && module.endsWith(FEATURE))
		.map((module) => [module.split("/").at(-2) as string, module] as const)
		.filter(([name]) => names?.includes(name) !== false);
	return Object.fromEntries(modules.map(([name, module]) => [name, Modules.importNow(module)]));
};
