import Modules from "modules";
import type { BuildAddons } from "../app/addons.js";

/** The module that a feature begins with, in the feature's folder. */
const FEATURE = "/feature";

/** The features of the build, by the names of their folders. */
export const findFeatures = (): BuildAddons => {
	const modules = Modules.host.filter((name) => name.startsWith("src/") && name.endsWith(FEATURE));
	return Object.fromEntries(modules.map((module) => [module.split("/").at(-2), Modules.importNow(module)]));
};
