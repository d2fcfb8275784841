// Looked up once: XS searches the global object, and `Math`, at each use. And a literal would be copied at each use.
const { min, round } = Math;
const COMMA = Uint8Array.of(0x2c).buffer;
const NOTHING = new ArrayBuffer(0);

/** Bytes that are put together at a time, roughly: more of them take more memory, fewer take more time. */
const TAKE = 1_024;

/** The most pieces that are put together at a time: each takes two places on XS's stack. */
const MAX_PIECES = 16;

/**
 * A long text in pieces, a comma between each two, that is never held whole: the pieces stay where they are, such as in
 * flash, until some of them are sent.
 *
 * Its fields are only declared: to define each, XS runs a further function.
 */
export class PiecedText {
	/** Bytes of the whole text as UTF-8. */
	declare readonly bytes: number;
	declare private readonly head: string;
	/** The pieces in UTF-8. */
	declare private readonly pieces: readonly ArrayBuffer[];
	declare private readonly tail: string;
	/** Pieces that are put together at a time. */
	declare private readonly count: number;
	/** Pieces that are taken. */
	declare private taken: number;

	constructor(head: string, pieces: readonly ArrayBuffer[], tail: string, bytes: number) {
		this.head = head;
		this.pieces = pieces;
		this.tail = tail;
		this.bytes = bytes;
		this.count = min(round((TAKE * pieces.length) / bytes) || 1, MAX_PIECES);
		this.taken = 0;
	}

	/** The next part of the text as UTF-8. Not to be called again when the whole text was taken. */
	take(): ArrayBuffer {
		const pieces = this.pieces;
		const length = pieces.length;
		const at = this.taken;
		const next = at + this.count;
		const end = next < length ? next : length;
		const head = at === 0 ? ArrayBuffer.fromString(this.head) : NOTHING;
		const tail = end < length ? COMMA : ArrayBuffer.fromString(this.tail);
		this.taken = end;
		// Two or three tools are a part. They are named one by one: XS takes twice as long to cut an array and to spread it.
		switch (end - at) {
			case 3:
				return head.concat(
					pieces[at] as ArrayBuffer,
					COMMA,
					pieces[at + 1] as ArrayBuffer,
					COMMA,
					pieces[at + 2] as ArrayBuffer,
					tail,
				);
			case 2:
				return head.concat(pieces[at] as ArrayBuffer, COMMA, pieces[at + 1] as ArrayBuffer, tail);
			case 1:
				return head.concat(pieces[at] as ArrayBuffer, tail);
			default: {
				const [, ...parts] = pieces.slice(at, end).flatMap((piece) => [COMMA, piece]);
				return head.concat(...parts, tail);
			}
		}
	}

	/** The text in one: all of it, whatever was taken. */
	toString(): string {
		return this.head.concat(this.pieces.map((piece) => String.fromArrayBuffer(piece)).join(","), this.tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
