import { utf8Length } from "../text/utf8.js";

/** A part of a response body. Its length is computed once, the page's at link time: computing it makes much garbage. */
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
