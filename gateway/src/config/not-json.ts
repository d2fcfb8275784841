import { parse } from "@humanwhocodes/momoa";

/**
 * Says where a file is not JSON, and why: `gateway.json:3:2: not JSON: Expected ',' or '}' after property value`.
 *
 * @param error that `JSON.parse` threw; only some of its messages have a position
 */
export function notJson(path: string, content: string, error: Error): string {
	const why = error.message.replace(/(?: in JSON)? at position .*$|, .* is not valid JSON$/s, "");
	return `${path}${placeIn(content)}: not JSON: ${why}`;
}

/** The line and column of the first mistake. Empty if only `JSON.parse` finds one: a line break in a string. */
function placeIn(content: string): string {
	try {
		parse(content);
		return "";
	} catch (error) {
		const { line, column } = error as { line: number; column: number };
		return `:${line}:${column}`;
	}
}
