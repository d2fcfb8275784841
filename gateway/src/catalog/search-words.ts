const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/u;
const CAMEL_CASE = /(\p{Ll}|\p{N})(\p{Lu})/gu;
/** Scripts that put no spaces between words. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** English suffixes to strip, and the letters that must remain before them. */
const ENDINGS = ["nesses", "ness", "ings", "ing", "est", "ers", "er", "ed", "es", "e", "s"];
const MIN_STEM = 3;

/** Stop words. */
const STOP_WORDS = new Set(
	(
		"a an the this that these those it its i me my we us our you your is are was be been am do does did can could would " +
		"will shall should may might must have has had to of in at by for from with and or but as so if then there here " +
		"please kindly just now right hey ok okay want need like let lets make get give tell put go going some any all " +
		"every one two more most bit little too very up down out into onto again currently current device devices tool what " +
		"whats which who when where how why much many long about happening use room self"
	).split(" "),
);

/** Synonyms. */
const SYNONYMS: readonly string[] = [
	"volume loud quiet silent mute unmute noise hear audio softly",
	"bright brightness dim dark screen backlight display",
	"theme dark appearance mode",
	"photo picture image snapshot camera look see watch show capture view",
	"light lamp led bulb lights colour color glow illuminate dim",
	"sensor temperature warm cold hot heat humidity humid motion moving degrees measure",
	"status state battery charge charging power network wifi signal connection online health info information",
	"restart reboot reset",
	"chime beep ring ding attention bell",
	"play song music sound tune listen melody",
	"stop silence cease halt end quit",
	"update upgrade firmware install",
	"read check show",
];

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** The words of a text: names are taken apart, and so is Chinese or Japanese text. */
export function wordsOf(text: string): string[] {
	return text
		.replace(CAMEL_CASE, "$1 $2")
		.split(SEPARATORS)
		.flatMap((word) => (WITHOUT_SPACES.test(word) ? segments(word) : [word]))
		.filter((word) => word !== "");
}

/** The stem of a word: "brighter" and "brightness" have the same. */
export function stemOf(word: string): string {
	const lower = word.toLowerCase();
	const ending = ENDINGS.find((each) => lower.endsWith(each) && lower.length - each.length >= MIN_STEM);
	return ending === undefined ? lower : lower.slice(0, -ending.length);
}

const GROUPS = SYNONYMS.map((group) => [...new Set(group.split(" ").map(stemOf))]);

/** Synonyms of a stem, as stems. */
export function synonymsOf(stem: string): string[] {
	return [...new Set(GROUPS.filter((group) => group.includes(stem)).flat())].filter((each) => each !== stem);
}

/** The words of a query that count. "on" does only if something is turned on. */
export function tellingWords(words: readonly string[]): string[] {
	const lower = words.map((word) => word.toLowerCase());
	const isSwitching = lower.some((word) => word === "turn" || word === "switch");
	const telling = lower.filter((word) => !STOP_WORDS.has(word) && (isSwitching || word !== "on"));
	return telling.length > 0 ? telling : lower;
}

/** Whether a query asks for information, not for an action. */
export function isQuestion(query: string): boolean {
	return /^(what|how|is|are|which|does|do|when|who|where|has|have|read|check|tell|show)\b|\?\s*$/i.test(query.trim());
}

function segments(text: string): string[] {
	return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}
