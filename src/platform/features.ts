import Modules from "modules";
import type { Feature } from "../core/listener.js";

const FEATURES = "src/features/";

/** A feature is `src/features/NAME` if it has one file, else `src/…/NAME/feature`; in a project `features/NAME/feature`. */
const isFeature = (module: string): boolean =>
	module.startsWith(FEATURES) && !module.includes("/", FEATURES.length)
		? true
		: (module.startsWith("src/") || module.startsWith("features/")) && module.endsWith("/feature");

/** The features of the build: default exports of their modules, in the order of the modules' names. */
export const findFeatures = (): readonly Feature[] =>
	Modules.host
		.filter(isFeature)
		.sort()
		.map((module) => Modules.importNow(module) as Feature);
