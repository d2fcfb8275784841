import { createHash } from "node:crypto";
import { portable } from "xs-mcp-manager/core";

/** The longest name, in characters. Some clients and model APIs accept only `[a-zA-Z0-9_-]{1,64}`. */
export const MAX_NAME_LENGTH = 64;

/** Separates a device's alias from its tool's name. No alias contains it, so the first one ends the alias. */
export const ALIAS_SEPARATOR = "__";

/** Hexadecimal digits of a hash that makes names unique: 32 bits. */
const HASH_DIGITS = 8;

/**
 * Names for the tools of one device that every client accepts: letters, digits, `_` and `-`, at most 64 characters, all
 * different. A name that fits is kept. In others, every other character becomes `_`; if the result is too long, or equals
 * another tool's name, it ends in a hash of the original. The result depends only on the arguments, so names are stable.
 *
 * @param own the device's names, each once
 * @param alias goes in front, with {@link ALIAS_SEPARATOR}; "" for no prefix
 * @returns the device's names by the new ones, in the same order
 */
export function portableNames(own: readonly string[], alias = ""): Map<string, string> {
	const prefix = alias === "" ? "" : `${alias}${ALIAS_SEPARATOR}`;
	const length = MAX_NAME_LENGTH - prefix.length;
	const wanted = own.map((name) => portable(name));
	// A hashed name must not equal a name that a tool keeps.
	const taken = new Set(wanted);
	const alike = new Map<string, number>();
	for (const name of wanted) {
		alike.set(name, (alike.get(name) ?? 0) + 1);
	}
	const names = new Map<string, string>();
	for (const [index, name] of own.entries()) {
		let portable = wanted[index] as string;
		const isOwn = portable === name && name.length <= length;
		const isFree = portable.length <= length && alike.get(portable) === 1;
		if (!isOwn && !isFree) {
			portable = hashedName(name, portable, length, taken);
		}
		taken.add(portable);
		names.set(prefix + portable, name);
	}
	return names;
}

/** Shortens a name and ends it with a hash; if that name is taken, with another hash. */
function hashedName(own: string, portable: string, length: number, taken: ReadonlySet<string>): string {
	for (let attempt = 0; ; attempt += 1) {
		const hash = createHash("sha256").update(`${attempt} ${own}`).digest("hex");
		const name = `${portable.slice(0, length - HASH_DIGITS - 1)}_${hash.slice(0, HASH_DIGITS)}`;
		if (!taken.has(name)) {
			return name;
		}
	}
}
