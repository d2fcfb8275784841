/**
 * The deepest nesting of arrays and objects accepted from the wire.
 *
 * XS parses JSON by recursion, and running out of stack ends the machine: a message of a few hundred `[` would
 * restart a device. MCP messages nest less than ten deep.
 */
export const MAX_JSON_DEPTH = 32;

/**
 * Parses JSON that came from a peer.
 *
 * @throws SyntaxError where the text is no JSON or nests deeper than {@link MAX_JSON_DEPTH}
 */
export function parseJson(text: string): unknown {
	if (mayNestTooDeep(text) && nestsTooDeep(text)) {
		throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
	}
	return JSON.parse(text);
}

/** A cheap bound: text with few opening brackets cannot nest deep. `indexOf` is native, a loop over characters is not. */
function mayNestTooDeep(text: string): boolean {
	return count(text, "{", MAX_JSON_DEPTH) + count(text, "[", MAX_JSON_DEPTH) > MAX_JSON_DEPTH;
}

/** How often a character stands in a text; counting ends beyond `most`. */
function count(text: string, character: string, most: number): number {
	let found = 0;
	let at = text.indexOf(character);
	while (at >= 0 && found <= most) {
		found += 1;
		at = text.indexOf(character, at + 1);
	}
	return found;
}

/** Goes by an iterator: XS finds the n-th character of a text by counting from its start. */
function nestsTooDeep(text: string): boolean {
	let depth = 0;
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
		} else if (character === "[" || character === "{") {
			depth += 1;
			if (depth > MAX_JSON_DEPTH) {
				return true;
			}
		} else if (character === "]" || character === "}") {
			depth -= 1;
		}
	}
	return false;
}
