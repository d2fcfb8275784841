// Looked up once: XS searches the global object, and `Array`, at each use.
const { isArray } = Array;

/** Whether a value is an object in JSON's sense: not null, not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !isArray(value);

/**
 * The deepest nesting of arrays and objects accepted from the wire.
 *
 * XS parses JSON by recursion, and running out of stack ends the machine: a message of a few hundred `[` would
 * restart a device. MCP messages nest less than ten deep.
 */
const MAX_JSON_DEPTH = 32;

/** JSON that is not parsed, because of what it would cost. */
export class JsonLimitError extends SyntaxError {}

/** The characters that a level of objects has before the next begins: `{"":`. */
const LEVEL_LENGTH = 4;

/** Characters of a text that cannot nest too deep without arrays. */
const MAX_FLAT_LENGTH = MAX_JSON_DEPTH * LEVEL_LENGTH;

const ARRAY = "[";
const OBJECT = "{";

/** XS takes a list of names where others take a reviver. Looked up once, as XS searches the global object at each use. */
const parse = JSON.parse as (text: string, names?: readonly string[]) => unknown;

/**
 * Parses JSON that came from a peer.
 *
 * @param maxValues how many `[`, `{` and `,` may stand outside its strings: each costs XS one to three slots.
 * Default: no limit
 * @param names the members that are wanted: XS skips others without keeping their names, which it would never free
 * (docs/sdk.md). Other engines parse all members, because a list is no reviver
 * (https://tc39.es/ecma262/2025/#sec-json.parse).
 * @throws JsonLimitError where the text nests deeper than {@link MAX_JSON_DEPTH} or has too many values
 * @throws SyntaxError where it is no JSON
 */
export const parseJson = (text: string, maxValues?: number, names?: readonly string[]): unknown => {
	// XS counts the characters each time.
	const length = text.length;
	// Nothing is greater than undefined.
	if (length > (maxValues as number) || text.includes(ARRAY)) {
		checkLimits(text, maxValues);
	} else if (length > MAX_FLAT_LENGTH) {
		const second = text.indexOf(OBJECT, 1);
		// Most messages have too few characters left here for too many levels, and a call would take XS 3 % of a short one.
		if (length - second > MAX_FLAT_LENGTH - LEVEL_LENGTH && mayNestTooDeep(text, length, second)) {
			checkLimits(text, maxValues);
		}
	}
	return parse(text, names);
};

/** Parses JSON as {@link parseJson} does. Returns undefined if that fails, or without a text. */
export const tryParseJson = (text: unknown, maxValues?: number, names?: readonly string[]): unknown => {
	try {
		return typeof text === "string" ? parseJson(text, maxValues, names) : undefined;
	} catch {
		return undefined;
	}
};

/**
 * A cheap bound for a text without arrays, which lets almost every message pass: each level takes some characters, and the
 * search for levels ends where too few are left. `indexOf` is native, a loop over characters is not.
 *
 * @param second index of the second level
 */
const mayNestTooDeep = (text: string, length: number, second: number): boolean => {
	let at = second;
	for (let room = MAX_FLAT_LENGTH - LEVEL_LENGTH; room > 0; room -= LEVEL_LENGTH) {
		if (at < 0 || length - at <= room) {
			return false;
		}
		at = text.indexOf(OBJECT, at + 1);
	}
	return true;
};

/** Goes by an iterator: XS finds the n-th character of a text by counting from its start. */
const checkLimits = (text: string, maxValues: number | undefined): void => {
	let depth = 0;
	let values = 0;
	let inString = false;
	let escaped = false;
	for (const character of text) {
		if (escaped) {
			escaped = false;
		} else if (inString) {
			escaped = character === "\\";
			inString = character !== '"';
		} else if (character === '"') {
			inString = true;
		} else if (character === ",") {
			values += 1;
		} else if (character === "[" || character === "{") {
			values += 1;
			depth += 1;
			if (depth > MAX_JSON_DEPTH) {
				throw new JsonLimitError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
			}
		} else if (character === "]" || character === "}") {
			depth -= 1;
		}
	}
	if (maxValues !== undefined && values > maxValues) {
		throw new JsonLimitError(`${values} values (limit ${maxValues})`);
	}
};

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
