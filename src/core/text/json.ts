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

/** Thrown for JSON that exceeds a limit, before it is parsed. */
export class JsonLimitError extends SyntaxError {}

/** Minimum characters of a level of nested objects: `{"":`. */
const LEVEL_LENGTH = 4;

/** Characters up to which a text without arrays cannot nest too deep. */
const MAX_FLAT_LENGTH = MAX_JSON_DEPTH * LEVEL_LENGTH;

const ARRAY = "[";
const OBJECT = "{";

/** XS takes a list of names in place of a reviver. Looked up once: XS searches the global object at each use. */
const parse = JSON.parse as (text: string, names?: readonly string[]) => unknown;

/**
 * Parses JSON that came from a peer.
 *
 * @param maxValues limit of the `[`, `{` and `,` outside strings: each costs XS one to three slots.
 * Default: no limit
 * @param names the members that are wanted: XS skips others without keeping their names, which it would never free
 * (docs/sdk.md). Other engines parse all members, because a list is no reviver
 * (https://tc39.es/ecma262/2025/#sec-json.parse).
 * @throws JsonLimitError if the text nests deeper than {@link MAX_JSON_DEPTH} or has too many values
 * @throws SyntaxError if it is not JSON
 */
export const parseJson = (text: string, maxValues?: number, names?: readonly string[]): unknown => {
	// XS counts the characters each time.
	const length = text.length;
	// Always false for undefined.
	if (length > (maxValues as number) || text.includes(ARRAY)) {
		checkLimits(text, maxValues);
	} else if (length > MAX_FLAT_LENGTH) {
		const second = text.indexOf(OBJECT, 1);
		// Most messages have too few characters left here to nest too deep. The call would take XS 3 % of a short one.
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

/** Uses an iterator: XS finds the n-th character of a text by counting from its start. */
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

/** Approximate bytes of a part: larger parts take more memory, smaller ones more time. */
const TAKE = 1_024;

/** Maximum number of pieces in a part: each takes two slots of XS's stack. */
const MAX_PIECES = 16;

/**
 * A long text of comma-separated pieces that is never in memory as a whole: the pieces stay where they are, such as in
 * flash, until they are sent.
 *
 * Its fields are only declared, because XS runs a further function for each defined field.
 */
export class PiecedText {
	/** Bytes of the whole text as UTF-8. */
	declare readonly bytes: number;
	declare private readonly head: string;
	/** The pieces in UTF-8. */
	declare private readonly pieces: readonly ArrayBuffer[];
	declare private readonly tail: string;
	/** Pieces per part. */
	declare private readonly count: number;
	/** Number of pieces already taken. */
	declare private taken: number;

	constructor(head: string, pieces: readonly ArrayBuffer[], tail: string, bytes: number) {
		this.head = head;
		this.pieces = pieces;
		this.tail = tail;
		this.bytes = bytes;
		this.count = min(round((TAKE * pieces.length) / bytes) || 1, MAX_PIECES);
		this.taken = 0;
	}

	/** Returns the next part of the text as UTF-8. Must not be called after the last part. */
	take(): ArrayBuffer {
		const pieces = this.pieces;
		const length = pieces.length;
		const at = this.taken;
		const next = at + this.count;
		const end = next < length ? next : length;
		const head = at === 0 ? ArrayBuffer.fromString(this.head) : NOTHING;
		const tail = end < length ? COMMA : ArrayBuffer.fromString(this.tail);
		this.taken = end;
		// A part usually is two or three tools, named one by one: slicing and spreading an array takes XS twice as long.
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

	/** Returns the whole text, including parts already taken. */
	toString(): string {
		return this.head.concat(this.pieces.map((piece) => String.fromArrayBuffer(piece)).join(","), this.tail);
	}
}

/** A text to send. */
export type Sendable = string | PiecedText;
