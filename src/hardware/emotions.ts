import { deepFreeze } from "../text/deep-freeze.js";

/** The emotions of the xiaozhi family, which a face shows: {@link Face.emotion}. */
export const EMOTIONS = deepFreeze([
	"neutral",
	"happy",
	"laughing",
	"funny",
	"sad",
	"angry",
	"crying",
	"loving",
	"embarrassed",
	"surprised",
	"shocked",
	"thinking",
	"winking",
	"cool",
	"relaxed",
	"delicious",
	"kissy",
	"confident",
	"sleepy",
	"silly",
	"confused",
] as const);
