/** `arch`: closed and smiling; `bowl`: closed and at rest; `chevron`: pressed shut; `dot`: wide open with a small pupil. */
export type Eye = "round" | "arch" | "bowl" | "heart" | "dot" | "chevron";

/** `open`: as in a laugh; `oval`: as in "oh"; `tongue`: a smile with a tongue; `smirk`: a smile of one side. */
type Mouth = "arc" | "open" | "oval" | "wave" | "smirk" | "tongue" | "kiss" | "line";

/** Extras of a face in addition to eyes, brows and mouth. */
export type Extra = "" | "tear" | "stream" | "joy" | "glasses" | "heart" | "sweat" | "zzz" | "question" | "drool";

/** How an emotion looks, by the columns of {@link EMOTIONS} after the emoji. Lengths are units: see `face-features.ts`. */
export interface Look {
	readonly left: Eye;
	readonly right: Eye;
	/** Percent of an eye's usual size. */
	readonly size: number;
	/** Percent of an eye that its upper lid covers, and how much lower it is at the nose: above 0 angry, below 0 sad. */
	readonly lid: number;
	readonly slant: number;
	/** Percent of an eye that its lower lid covers. */
	readonly cheek: number;
	readonly gazeX: number;
	readonly gazeY: number;
	/** How far a brow is raised, and how much lower it is at the nose; 0 and 0: no brow. */
	readonly leftBrow: number;
	readonly leftSlant: number;
	readonly rightBrow: number;
	readonly rightSlant: number;
	readonly mouth: Mouth;
	readonly mouthX: number;
	readonly width: number;
	/** Below 0: the corners point down. */
	readonly depth: number;
	/** 0 to 2. */
	readonly blush: number;
	readonly extra: Extra;
}

const COLUMNS =
	"left right size lid slant cheek gazeX gazeY leftBrow leftSlant rightBrow rightSlant mouth mouthX width depth blush extra";

/**
 * The emotions of the family, a line each, with the emoji that its backends send for them. One text, because an object of the
 * same content takes six times as much of a chip's flash. Columns: word, emoji, then {@link COLUMNS}.
 */
const EMOTIONS = `
neutral 😶😐 round round 100 0 0 0 0 0 0 0 0 0 arc 0 17 6 0
happy 🙂😀😊😃😄 round round 100 0 0 20 0 0 0 0 0 0 arc 0 25 15 1
laughing 😆😁 arch arch 100 0 0 0 0 0 0 0 0 0 open 0 25 25 1
funny 😂🤣 arch arch 100 0 0 0 0 0 0 0 0 0 open 0 21 20 0 joy
sad 😔😞🙁😢 round round 100 16 -24 0 0 3 2 -9 2 -9 arc 0 15 -9 0 tear
angry 😠😡 round round 100 20 30 0 0 0 -9 14 -9 14 arc 0 18 -9 0
crying 😭 bowl bowl 100 0 0 0 0 0 -6 -9 -6 -9 wave 0 17 6 0 stream
loving 😍🥰 heart heart 100 0 0 0 0 0 0 0 0 0 open 0 19 16 1
embarrassed 😳 round round 84 0 0 0 -4 5 0 0 0 0 wave 0 17 6 2 sweat
surprised 😲😮 round round 108 0 0 0 0 0 8 -3 8 -3 oval 0 10 12 0
shocked 😱😨 dot dot 118 0 0 0 0 0 12 -8 12 -8 oval 0 13 18 0
thinking 🤔 round round 100 0 0 0 7 -7 4 5 10 -4 line 6 11 -4 0
winking 😉 round arch 100 0 0 0 0 0 0 0 0 0 arc 0 22 13 1
cool 😎 round round 60 0 0 0 0 0 0 0 0 0 smirk 3 20 8 0 glasses
relaxed 😌 bowl bowl 100 0 0 0 0 0 0 0 0 0 arc 0 15 7 1
delicious 🤤😋 arch arch 100 0 0 0 0 0 0 0 0 0 tongue 0 22 13 0 drool
kissy 😘😚 round arch 100 0 0 0 0 0 0 0 0 0 kiss 0 17 6 1 heart
confident 😏 round round 100 36 8 0 5 0 0 0 6 -3 smirk 4 18 6 0
sleepy 😴😪 bowl bowl 100 0 0 0 0 0 0 0 0 0 oval 3 6 6 0 zzz
silly 😜🤪 round chevron 110 0 0 0 0 0 8 -3 0 0 tongue 0 22 14 0
confused 🙄😕 round round 100 0 0 0 -6 -5 10 -3 3 5 wave 0 17 6 0 question
`;

/** The family's names for the pictures of its alerts, by the nearest emotion. */
const ALERTS =
	" surprised:triangle_exclamation sad:circle_xmark sad:cloud_slash thinking:cloud_arrow_down thinking:download thinking:gear thinking:link ";

/** Returns the look of an emotion, by its word or by a text with its emoji. Neutral if it is unknown. */
export const lookOf = (emotion: string): Look => {
	const [, , ...cells] = lineOf(emotion).split(" ");
	const look = COLUMNS.split(" ").map((column, at) => {
		const cell = cells[at] ?? "";
		const number = Number.parseInt(cell, 10);
		return [column, Number.isNaN(number) ? cell : number];
	});
	return Object.fromEntries(look);
};

/** The words of the family's emotions. */
export const emotionWords = (): readonly string[] => lines().map((line) => line.slice(0, line.indexOf(" ")));

const lines = (): readonly string[] => EMOTIONS.trim().split("\n");

const lineOf = (emotion: string): string => {
	const all = lines();
	const at = ALERTS.indexOf(`:${emotion} `);
	const word = at < 0 ? emotion.toLowerCase() : ALERTS.slice(ALERTS.lastIndexOf(" ", at) + 1, at);
	return (
		all.find((line) => line.startsWith(`${word} `)) ??
		all.find((line) => Array.from(line.split(" ")[1] ?? "").some((emoji) => emotion.includes(emoji))) ??
		(all[0] as string)
	);
};
