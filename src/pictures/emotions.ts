import { deepFreeze } from "../text/deep-freeze.js";

/** `arch`: closed and smiling; `bowl`: closed and at rest; `chevron`: pressed shut; `dot`: wide open with a small pupil. */
export type Eye = "round" | "arch" | "bowl" | "heart" | "dot" | "chevron";

/** `open`: as in a laugh; `oval`: as in "oh"; `tongue`: a smile with a tongue; `smirk`: a smile of one side. */
export type Mouth = "arc" | "open" | "oval" | "wave" | "smirk" | "tongue" | "kiss" | "line";

/** What a face has besides eyes, brows and mouth. */
export type Extra = "tear" | "stream" | "joy" | "glasses" | "heart" | "sweat" | "zzz" | "question" | "drool";

/** How an emotion looks. Lengths are 1/100 of the unit that the screen's size gives: see `face-geometry.ts`. */
export interface Look {
	readonly left: Eye;
	readonly right: Eye;
	/** Percent of an eye's usual size. */
	readonly size: number;
	/** Percent of an eye that its upper lid covers, and how much lower that is at the nose: above 0 angry, below 0 sad. */
	readonly lid: number;
	readonly slant: number;
	/** Percent of an eye that its lower lid covers. */
	readonly cheek: number;
	readonly gazeX: number;
	readonly gazeY: number;
	/** How far a brow is raised, and how much lower it is at the nose; 0 and 0: no brow. */
	readonly leftBrow: readonly [raised: number, slant: number];
	readonly rightBrow: readonly [raised: number, slant: number];
	readonly mouth: Mouth;
	readonly mouthX: number;
	readonly width: number;
	/** Below 0: the corners point down. */
	readonly depth: number;
	/** 0 to 2. */
	readonly blush: number;
	readonly extra: Extra | undefined;
}

const NEUTRAL: Look = deepFreeze({
	left: "round",
	right: "round",
	size: 100,
	lid: 0,
	slant: 0,
	cheek: 0,
	gazeX: 0,
	gazeY: 0,
	leftBrow: [0, 0],
	rightBrow: [0, 0],
	mouth: "arc",
	mouthX: 0,
	width: 17,
	depth: 6,
	blush: 0,
	extra: undefined,
} as const);

/** The emotions of the family, as far as they differ from neutral, with the emoji that its backends send for them. */
const EMOTIONS: Readonly<Record<string, Partial<Look> & { readonly emoji: string }>> = deepFreeze({
	neutral: { emoji: "😶😐" },
	happy: { emoji: "🙂😀😊😃😄", cheek: 20, width: 25, depth: 15, blush: 1 },
	laughing: { emoji: "😆😁", left: "arch", right: "arch", mouth: "open", width: 25, depth: 25, blush: 1 },
	funny: { emoji: "😂🤣", left: "arch", right: "arch", mouth: "open", width: 21, depth: 20, extra: "joy" },
	sad: {
		emoji: "😔😞🙁😢",
		lid: 16,
		slant: -24,
		gazeY: 3,
		leftBrow: [2, -9],
		rightBrow: [2, -9],
		width: 15,
		depth: -9,
		extra: "tear",
	},
	angry: { emoji: "😠😡", lid: 20, slant: 30, leftBrow: [-9, 14], rightBrow: [-9, 14], width: 18, depth: -9 },
	crying: {
		emoji: "😭",
		left: "bowl",
		right: "bowl",
		leftBrow: [-6, -9],
		rightBrow: [-6, -9],
		mouth: "wave",
		extra: "stream",
	},
	loving: { emoji: "😍🥰", left: "heart", right: "heart", mouth: "open", width: 19, depth: 16, blush: 1 },
	embarrassed: { emoji: "😳", size: 84, gazeX: -4, gazeY: 5, mouth: "wave", blush: 2, extra: "sweat" },
	surprised: { emoji: "😲😮", size: 108, leftBrow: [8, -3], rightBrow: [8, -3], mouth: "oval", width: 10, depth: 12 },
	shocked: {
		emoji: "😱😨",
		left: "dot",
		right: "dot",
		size: 118,
		leftBrow: [12, -8],
		rightBrow: [12, -8],
		mouth: "oval",
		width: 13,
		depth: 18,
	},
	thinking: {
		emoji: "🤔",
		gazeX: 7,
		gazeY: -7,
		leftBrow: [4, 5],
		rightBrow: [10, -4],
		mouth: "line",
		mouthX: 6,
		width: 11,
		depth: -4,
	},
	winking: { emoji: "😉", right: "arch", width: 22, depth: 13, blush: 1 },
	cool: { emoji: "😎", mouth: "smirk", mouthX: 3, size: 60, width: 20, depth: 8, extra: "glasses" },
	relaxed: { emoji: "😌", left: "bowl", right: "bowl", width: 15, depth: 7, blush: 1 },
	delicious: { emoji: "🤤😋", left: "arch", right: "arch", mouth: "tongue", width: 22, depth: 13, extra: "drool" },
	kissy: { emoji: "😘😚", right: "arch", mouth: "kiss", blush: 1, extra: "heart" },
	confident: {
		emoji: "😏",
		lid: 36,
		slant: 8,
		gazeX: 5,
		rightBrow: [6, -3],
		mouth: "smirk",
		mouthX: 4,
		width: 18,
		depth: 6,
	},
	sleepy: { emoji: "😴😪", left: "bowl", right: "bowl", mouth: "oval", mouthX: 3, width: 6, depth: 6, extra: "zzz" },
	silly: { emoji: "😜🤪", size: 110, right: "chevron", leftBrow: [8, -3], mouth: "tongue", width: 22, depth: 14 },
	confused: {
		emoji: "🙄😕",
		gazeX: -6,
		gazeY: -5,
		leftBrow: [10, -3],
		rightBrow: [3, 5],
		mouth: "wave",
		extra: "question",
	},
});

/** What the family's firmware calls the pictures of its alerts, and the emotion that is nearest. */
const ALERT_EMOTIONS: Readonly<Record<string, string>> = deepFreeze({
	triangle_exclamation: "surprised",
	circle_xmark: "sad",
	cloud_slash: "sad",
	cloud_arrow_down: "thinking",
	download: "thinking",
	gear: "thinking",
	link: "thinking",
	microchip_ai: "neutral",
});

/** The look of an emotion: a word of the family, or a text with an emoji for it. Neutral if it is neither. */
export function lookOf(emotion: string): Look {
	const named = EMOTIONS[ALERT_EMOTIONS[emotion] ?? emotion.toLowerCase()];
	const look =
		named ?? Object.values(EMOTIONS).find(({ emoji }) => Array.from(emoji).some((each) => emotion.includes(each)));
	return { ...NEUTRAL, ...look };
}

/** The words of the family's emotions. */
export function emotionWords(): readonly string[] {
	return Object.keys(EMOTIONS);
}
