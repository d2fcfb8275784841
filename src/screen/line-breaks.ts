import { deepFreeze } from "../core/text/deep-freeze.js";

/** Returns the advance width of a character in pixels; 0 if the font has no glyph for it. */
export type Measure = (character: string) => number;

/** Characters that do not begin a line: closing brackets, full stops, small kana, length and iteration marks. */
const NO_START =
	"!%),.:;?]}¢°·’”‰′″℃、。々〉》」』】〕〗〙〛〜〟ぁぃぅぇぉっゃゅょゎ゛゜ゝゞ゠ァィゥェォッャュョヮヵヶ・ーヽヾ–…‼⁇！％），．：；？］｝｡｣､･";

/** Characters that do not end a line: opening brackets, and signs before an amount, such as ￥ and ＃. */
const NO_END = "([{£¥‘“〈《「『【〔〖〘〚〝＃＄（＠［｛￡￥｢";

/** First and last code points of characters that a line may break before and after. */
const WIDE = Object.freeze([
	0x2014, 0x2014, 0x25a1, 0x25a1, 0x2e80, 0xa4cf, 0xf900, 0xfaff, 0xfe30, 0xfe4f, 0xff00, 0xff60,
]);

/** First and last code points of characters that have no shape: controls, joiners, directions, variations. */
const SHAPELESS = deepFreeze([
	...[0, 9, 11, 31, 127, 159, 173, 173, 0x200b, 0x200f, 0x202a, 0x202e, 0x2060, 0x206f],
	...[0xfe00, 0xfe0f, 0xfeff, 0xfeff, 0xe0000, 0xe0fff],
]);

/** Stands for a character that the font lacks. */
const MISSING = "□";

/** Returns a text as the font can show it: a box for a missing character, a space for a tab, nothing for SHAPELESS. */
export const visibleText = (text: string, measure: Measure): string => {
	let visible = "";
	for (const character of text) {
		if (character === "\n" || (measure(character) > 0 && !isIn(SHAPELESS, character))) {
			visible += character;
		} else if (character === "\t") {
			visible += " ";
		} else if (!isIn(SHAPELESS, character)) {
			visible += measure(MISSING) > 0 ? MISSING : "?";
		}
	}
	return visible;
};

/**
 * Breaks a text into lines, as Unicode's line breaking (UAX #14) does for Chinese, Japanese and alphabets: after spaces and hyphens, and
 * between ideographs or kana, but not before a full stop or after an opening bracket. A word that is wider than a line is cut.
 *
 * @param width pixels of a line
 * @returns the lines in {@link visibleText}, without the spaces at their ends; none for an empty text
 */
export const breakLines = (text: string, width: number, measure: Measure): readonly string[] => {
	const lines: string[] = [];
	for (const paragraph of visibleText(text, measure).split("\n")) {
		breakParagraph(paragraph, width, measure, lines);
	}
	return lines;
};

/** Returns the width of a text in a line, in pixels. */
export const widthOf = (text: string, measure: Measure): number => {
	let width = 0;
	for (const character of text) {
		width += measure(character);
	}
	return width;
};

const breakParagraph = (text: string, width: number, measure: Measure, lines: string[]): void => {
	let line = "";
	let used = 0;
	/** Index at which the line may end, in UTF-16 units; 0 if nowhere. */
	let end = 0;
	for (const character of text) {
		if (line !== "" && mayBreak(line, character)) {
			end = line.length;
		}
		const advance = measure(character);
		// Spaces may extend beyond the edge, where they are not seen.
		while (line !== "" && character !== " " && used + advance > width) {
			const cut = end > 0 ? end : placeToCut(line, character);
			lines.push(line.slice(0, cut).trimEnd());
			line = line.slice(cut);
			used = widthOf(line, measure);
			end = 0;
		}
		line += character;
		used += advance;
	}
	if (line.trimEnd() !== "") {
		lines.push(line.trimEnd());
	}
};

/** Cuts a word that is too wide. A full stop stays with the character before it. */
const placeToCut = (line: string, after: string): number => {
	const { length } = line.trimEnd();
	return NO_START.includes(after) && length > 1 ? length - 1 : line.length;
};

const mayBreak = (line: string, after: string): boolean => {
	const before = line.at(-1) ?? "";
	if (after === " " || NO_START.includes(after) || NO_END.includes(before) || (before === "—" && after === "—")) {
		return false;
	}
	if (before === "-") {
		const isInWord = !" -".includes(line.at(-2) ?? " ");
		return isInWord && (after < "0" || after > "9");
	}
	return before === " " || isIn(WIDE, before) || isIn(WIDE, after);
};

const isIn = (ranges: readonly number[], character: string): boolean => {
	const code = character.codePointAt(0) ?? 0;
	for (let at = 0; at < ranges.length; at += 2) {
		if (code >= (ranges[at] as number) && code <= (ranges[at + 1] as number)) {
			return true;
		}
	}
	return false;
};
