import { loadTools } from "../../packages/xs-mcp/src/moddable/load-tools.js";

/** A virtual device has every part but Wi-Fi that could be set up, and parts of one's own. */
const LACKING = ["wifiSetup", "switches", "servos", "lines"];

const OFFERED = (await loadTools()).filter(({ needs }) => !needs.some((part) => LACKING.includes(part)));

export const ALL_TOOLS = OFFERED.length;
export const COMMON_TOOLS = OFFERED.filter(({ userOnly }) => !userOnly).length;
