import { findTools } from "../../src/platform/tools.js";

/** Every tool of the firmware, in the order of the list. */
export const TOOLS = findTools();
