/**
 * Bytes that are put together at a time, roughly. They are held twice, as text and as bytes: more of them take more
 * memory, fewer take more time.
 */
const TAKE = 1_024;

/**
 * A long text in pieces, a comma between each two, that is never held whole: the pieces stay where they are, such as in
 * flash, until some of them are sent.
 */
export class PiecedText {
	/** Bytes of the whole text as UTF-8. */
	readonly bytes: number;
	/** Those that are not taken. */
	readonly #pieces: string[];
	readonly #tail: string;
	/** Pieces that are put together at a time. */
	readonly #count: number;
	/** Pieces of the next part: the first part holds the head, too, and so has one piece less. */
	#next: number;

	/** @param pieces become the text's own: they are taken out of this array */
	constructor(head: string, pieces: string[], tail: string, bytes: number) {
		this.#count = Math.round((TAKE * pieces.length) / bytes) || 1;
		this.#next = this.#count - 1 || 1;
		pieces[0] = head.concat(pieces[0] ?? "");
		this.#pieces = pieces;
		this.#tail = tail;
		this.bytes = bytes;
	}

	/** The next part of the text. Not to be called again when the whole text was taken. */
	take(): string {
		const part = this.#pieces.splice(0, this.#next);
		this.#next = this.#count;
		// Each concatenation copies: so tail and the comma before the next part are joined with the pieces.
		part.push(this.#pieces.length > 0 ? "" : (part.pop() ?? "").concat(this.#tail));
		return part.join(",");
	}

	/** The text in one: all of it, as long as nothing was taken. */
	toString(): string {
		return this.#pieces.join(",").concat(this.#tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
