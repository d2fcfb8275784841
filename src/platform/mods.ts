import Modules from "modules";

/** The name that the main module of every mod has. */
const MAIN = "mod/tools/main";

/** The mod installed by `mcrun`, if any. */
export const findMod = (): { load(): unknown } | undefined =>
	Modules.has(MAIN) ? { load: () => Modules.importNow(MAIN) } : undefined;
