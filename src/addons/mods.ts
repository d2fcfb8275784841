import { findMod } from "src/platform/mods";
import type { Addons } from "../app/addons.js";
import { withModTools } from "../app/mod-tools.js";

const mods: Addons["mods"] = (options) => withModTools({ ...options, mod: findMod() });
export default mods;
