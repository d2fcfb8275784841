import { findMod } from "src/platform/mods";
import { modsFeature } from "./mod-tools.js";

/** Adds the tools of the mod that is installed beside the firmware. */
export default modsFeature(findMod);
