import { hash } from "node:crypto";
import { distance } from "fastest-levenshtein";

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

/** Edit distance up to which a short name counts as misspelled. */
const MIN_TYPOS = 2;

/** Whether an unknown name probably means this one: a few characters differ, or it is only the end of the name. */
export function isSimilar(name: string, unknown: string): boolean {
	const [one, other] = [portable(name), portable(unknown)];
	return distance(one, other) <= Math.max(MIN_TYPOS, other.length / 4) || one.endsWith(`_${other}`);
}

/** The SHA-256 of a text, in hex. Secrets are stored hashed like this: they are random enough to need no slow hash. */
export function digest(text: string): string {
	return hash("sha256", text);
}
