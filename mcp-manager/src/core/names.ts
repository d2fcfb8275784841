/** A name in the characters that every MCP client and model API accepts: each other character becomes `other`. */
export function portable(name: string, other: "_" | "-" = "_"): string {
	return name.replace(/[^A-Za-z0-9_-]/g, other);
}

/**
 * A text as a part of an alias or hostname: lower case, with one separator for each run of other characters, and none at
 * the ends.
 *
 * @param maxLength characters at most
 */
export function slug(text: string, separator: "_" | "-", maxLength: number): string {
	return text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, separator)
		.slice(0, maxLength)
		.replace(/^[_-]|[_-]$/g, "");
}
