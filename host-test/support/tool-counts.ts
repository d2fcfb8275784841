import { TOOLS } from "../doubles/tools.js";

/** A virtual device has every part but Wi-Fi that could be set up. */
const OFFERED = TOOLS.filter(({ needs }) => !needs.includes("wifiSetup"));

/** How many tools a virtual device lists: with the user's, and without them. */
export const ALL_TOOLS = OFFERED.length;
export const COMMON_TOOLS = OFFERED.filter(({ userOnly }) => !userOnly).length;
