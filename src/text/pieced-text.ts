/** Bytes that are put together at a time, on average: about what fits in one packet of a network. */
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
	/** Pieces that are put together at a time. */
	readonly #count: number;
	#taken = 0;

	constructor(head: string, pieces: readonly string[], tail: string, bytes: number) {
		this.#head = head;
		this.#pieces = pieces;
		this.#tail = tail;
		this.#count = Math.max(1, Math.round((TAKE * pieces.length) / bytes));
		this.bytes = bytes;
	}

	/** The next part of the text. Not to be called again when the whole text was taken. */
	take(): string {
		const total = this.#pieces.length;
		const first = this.#taken;
		const last = first + this.#count;
		this.#taken = last;
		// Each concatenation copies: so head, tail and the comma before the next part are joined with the pieces.
		const part = this.#pieces.slice(first, last);
		if (first === 0) {
			part[0] = this.#head.concat(part[0] ?? "");
		}
		if (last < total) {
			part.push("");
		} else {
			part.push((part.pop() ?? "").concat(this.#tail));
		}
		return part.join(",");
	}

	/** The whole text. */
	toString(): string {
		return this.#head.concat(this.#pieces.join(","), this.#tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
