// Looked up once: XS searches the global object, and `Math`, at each use. And a literal would be copied at each use.
const { round } = Math;
const COMMA = ",";
const NOTHING = "";

/**
 * Bytes that are put together at a time, roughly. They are held twice, as text and as bytes: more of them take more
 * memory, fewer take more time.
 */
const TAKE = 1_024;

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
	declare private readonly pieces: readonly string[];
	declare private readonly tail: string;
	/** Pieces that are put together at a time. */
	declare private readonly count: number;
	/** Pieces that are taken. */
	declare private taken: number;

	constructor(head: string, pieces: readonly string[], tail: string, bytes: number) {
		this.head = head;
		this.pieces = pieces;
		this.tail = tail;
		this.bytes = bytes;
		this.count = round((TAKE * pieces.length) / bytes) || 1;
		this.taken = 0;
	}

	/** The next part of the text. Not to be called again when the whole text was taken. */
	take(): string {
		const pieces = this.pieces;
		const length = pieces.length;
		const at = this.taken;
		const next = at + this.count;
		const end = next < length ? next : length;
		const head = at === 0 ? this.head : NOTHING;
		const tail = end < length ? COMMA : this.tail;
		this.taken = end;
		// Two or three tools are a part. They are named one by one: XS takes twice as long to cut an array and to join it.
		switch (end - at) {
			case 3:
				return head.concat(
					pieces[at] as string,
					COMMA,
					pieces[at + 1] as string,
					COMMA,
					pieces[at + 2] as string,
					tail,
				);
			case 2:
				return head.concat(pieces[at] as string, COMMA, pieces[at + 1] as string, tail);
			case 1:
				return head.concat(pieces[at] as string, tail);
			default:
				return head.concat(pieces.slice(at, end).join(), tail);
		}
	}

	/** The text in one: all of it, whatever was taken. */
	toString(): string {
		return this.head.concat(this.pieces.join(","), this.tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
