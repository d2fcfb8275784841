import Modules from "modules";
import type { Feature } from "../app/application.js";

/** The features of the build: the default exports of the modules `feature`, in the order of their folders. */
export const findFeatures = (): readonly Feature[] => {
	const modules = Modules.host.filter((module) => module.startsWith("src/") && module.endsWith("/feature"));
	return modules.sort().map((module) => Modules.importNow(module) as Feature);
};
