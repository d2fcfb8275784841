import Modules from "modules";

/** The name that the main module of every mod has. */
const MAIN = "mod/tools/main";

/** The mod that `mcrun` has installed, if there is one. */
export function findMod(): { load(): unknown } | undefined {
	return Modules.has(MAIN) ? { load: () => Modules.importNow(MAIN) } : undefined;
}
