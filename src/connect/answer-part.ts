import { utf8Length } from "../text/utf8.js";

/** A part of an answer's body. Its length is counted once, for the page in the linker: counting makes much garbage. */
export interface AnswerPart {
	readonly text: string;
	/** Of the text as UTF-8. */
	readonly bytes: number;
}

export function answerPart(text: string): AnswerPart {
	return { text, bytes: utf8Length(text) };
}

export function bytesOf(parts: readonly AnswerPart[]): number {
	return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
