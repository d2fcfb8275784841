import { findMod } from "src/platform/mods";
import type { HardwareTool } from "../tools/define-tool.js";
import { type ModToolsOptions, withModTools } from "./mod-tools.js";

/** Adds the tools of the mod that is installed beside the firmware. */
export default (options: Omit<ModToolsOptions, "mod">): readonly HardwareTool[] =>
	withModTools({ ...options, mod: findMod() });
