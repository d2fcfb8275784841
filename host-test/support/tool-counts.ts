import { loadTools } from "xs-mcp/moddable/boards";
import { ALL_KINDS } from "../../src/hardware/vocabulary.js";

/** Kinds of parts of a virtual device without custom parts. */
const ITS_KINDS = ["buttons", "lights", "rules", "sensors"];

/** A virtual device has every part except Wi-Fi that could be set up, a robot's head, and custom parts. */
const LACKING: readonly string[] = [
	"wifiSetup",
	"head",
	...ALL_KINDS.map(({ plural }) => plural).filter((plural) => !ITS_KINDS.includes(plural)),
];

const OFFERED = (await loadTools()).filter(({ needs }) => !needs.some((part) => LACKING.includes(part)));

export const ALL_TOOLS = OFFERED.length;
export const COMMON_TOOLS = OFFERED.filter(({ userOnly }) => !userOnly).length;
