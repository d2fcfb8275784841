import { TOOLS } from "../../src/tools/index.js";

/** How many tools a virtual device lists, which has every part: with the user's, and without them. */
export const ALL_TOOLS = TOOLS.length;
export const COMMON_TOOLS = TOOLS.filter(({ userOnly }) => !userOnly).length;
