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
	readonly #head: string;
	readonly #pieces: readonly string[];
	readonly #tail: string;
	/** Pieces that are put together at a time. The first part holds the head, too, and so has one piece less. */
	readonly #count: number;
	/** Pieces that are taken. */
	#taken = 0;

	constructor(head: string, pieces: readonly string[], tail: string, bytes: number) {
		this.#head = head;
		this.#pieces = pieces;
		this.#tail = tail;
		this.#count = Math.round((TAKE * pieces.length) / bytes) || 1;
		this.bytes = bytes;
	}

	/** The next part of the text. Not to be called again when the whole text was taken. */
	take(): string {
		const pieces = this.#pieces;
		const from = this.#taken;
		const to = from === 0 ? this.#count - 1 || 1 : from + this.#count;
		this.#taken = to;
		const part = pieces.slice(from, to + 1);
		// Each concatenation copies: so head and tail are joined with a piece each.
		if (from === 0) {
			part[0] = this.#head.concat(part[0] ?? "");
		}
		const length = pieces.length;
		if (to < length) {
			// The piece of the next part is emptied: it makes the comma before it.
			part[to - from] = "";
		} else {
			const last = part.length - 1;
			part[last] = (part[last] as string).concat(this.#tail);
		}
		return part.join();
	}

	/** The text in one: all of it, whatever was taken. */
	toString(): string {
		return this.#head.concat(this.#pieces.join(","), this.#tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
