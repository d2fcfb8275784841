import { createHash } from "node:crypto";
import { slug } from "./names.js";

/** The longest alias, in characters. It leaves enough for a tool's name within 64. */
export const MAX_ALIAS_LENGTH = 24;

/** Digits of a MAC address that differ between boards of one kind. */
const TAIL_DIGITS = 6;

const ALIAS = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;

/** Which server has which alias: short, unique names for clients and people. */
export class Aliases {
	readonly #chosen: ReadonlyMap<string, string>;
	readonly #owners = new Map<string, string>();

	/**
	 * @param chosen aliases by device id: 1 to 24 of `a-z 0-9 _ -`, beginning and ending with a letter or digit, without
	 * two of `_ -` in a row (which separate an alias from a tool's name)
	 * @throws RangeError that names the device, if an alias is not valid
	 */
	constructor(chosen: ReadonlyMap<string, string> = new Map()) {
		this.#chosen = chosen;
		for (const [id, alias] of chosen) {
			expectValid(id, alias);
			if (this.#owners.has(alias)) {
				throw new RangeError(`alias ${alias}: already assigned to ${this.#owners.get(alias)}`);
			}
			this.#owners.set(alias, id);
		}
	}

	/** The device with this alias. */
	owner(alias: string): string | undefined {
		return this.#owners.get(alias);
	}

	/**
	 * Gives a device its alias: the configured one; else the one it had, if it is valid and not configured for another
	 * device; else its board's name and the last six digits of its MAC address.
	 */
	assign(id: string, boardName: string, before: string | undefined): string {
		const isTaken = (alias: string): boolean => (this.#owners.get(alias) ?? id) !== id;
		const own = this.#chosen.get(id);
		const kept =
			before === undefined || !isValidAlias(before) || isTaken(before) ? defaultAlias(id, boardName, isTaken) : before;
		const alias = own ?? kept;
		this.#owners.set(alias, id);
		return alias;
	}

	/**
	 * Gives a configured server the alias made from its id, even if a device has it. Between servers the order does not
	 * matter: the one whose id equals the alias gets it, and others end in six digits of a hash of their ids.
	 *
	 * @param isShared whether other configured servers would have the alias, too
	 * @returns its alias, and the device that lost it
	 */
	claim(id: string, wish: string, isShared: boolean): { alias: string; loser: string | undefined } {
		const owner = this.#owners.get(wish);
		const isChosen = owner !== undefined && owner !== id && this.#chosen.has(owner);
		const alias = isChosen || (isShared && id !== wish) ? aliasOf(wish, hashOf(id).slice(-TAIL_DIGITS)) : wish;
		if (alias !== wish && owner === id) {
			this.#owners.delete(wish);
		}
		const loser = this.#owners.get(alias);
		this.#owners.set(alias, id);
		return { alias, loser: loser === id ? undefined : loser };
	}

	/**
	 * Reserves another alias for a device, which also keeps the one that it has until {@link release}.
	 *
	 * @param loser the device that may lose it, unless the configuration chose it
	 * @throws RangeError when the alias is invalid or another device's, or when the configuration chose the device's
	 */
	reserve(id: string, alias: string, loser = id): void {
		const chosen = this.#chosen.get(id);
		if (chosen !== undefined) {
			throw new RangeError(`alias of ${id}: the setting aliases fixes it to ${chosen}`);
		}
		expectValid(id, alias);
		const owner = this.#owners.get(alias) ?? id;
		if (owner !== id && (owner !== loser || this.#chosen.has(owner))) {
			throw new RangeError(`alias ${alias}: already assigned to ${owner}`);
		}
		this.#owners.set(alias, id);
	}

	/** Frees an alias that a device no longer has. A configured one stays reserved. */
	release(id: string, alias: string): void {
		if (!this.#chosen.has(id) && this.#owners.get(alias) === id) {
			this.#owners.delete(alias);
		}
	}
}

/** Whether a text has the form of an alias. */
function isValidAlias(alias: string): boolean {
	return alias.length <= MAX_ALIAS_LENGTH && ALIAS.test(alias);
}

/** @throws RangeError that names the device */
function expectValid(id: string, alias: string): void {
	if (!isValidAlias(alias)) {
		throw new RangeError(
			`alias of ${id}: expected 1 to ${MAX_ALIAS_LENGTH} of a-z, 0-9 and single "_" or "-" between them, got ${JSON.stringify(alias)}`,
		);
	}
}

/** If another device has the first choice, the alias ends in twelve digits of a hash. */
function defaultAlias(id: string, boardName: string, isTaken: (alias: string) => boolean): string {
	const mac = /^(?:[0-9a-f]{2}[:-]?){6}$/i.test(id) ? id.toLowerCase().replace(/[^0-9a-f]/g, "") : hashOf(id);
	let alias = aliasOf(boardName, mac.slice(-TAIL_DIGITS));
	for (let at = 0; isTaken(alias); at += 1) {
		alias = aliasOf(boardName, hashOf(`${at} ${id}`).slice(0, 2 * TAIL_DIGITS));
	}
	return alias;
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

function aliasOf(boardName: string, tail: string): string {
	const name = slug(boardName, "_", MAX_ALIAS_LENGTH - tail.length - 1);
	return `${name || "device"}_${tail}`;
}

/** Tags of one device. */
const MAX_TAGS = 16;

/** Means every device in a list of devices and tags. */
export const EVERY_DEVICE = "all";

/**
 * Tags as they are kept: each once, sorted. A tag has the form of an alias.
 *
 * @throws RangeError that names the tag
 */
export function readTags(tags: readonly string[]): readonly string[] {
	for (const tag of tags) {
		if (!isValidAlias(tag)) {
			throw new RangeError(
				`tag: expected 1 to ${MAX_ALIAS_LENGTH} of a-z, 0-9 and single "_" or "-" between them, got ${JSON.stringify(tag)}`,
			);
		}
		if (tag === EVERY_DEVICE) {
			throw new RangeError(`tag ${EVERY_DEVICE}: reserved for every device`);
		}
	}
	const different = [...new Set(tags)].sort();
	if (different.length > MAX_TAGS) {
		throw new RangeError(`tags: a device has at most ${MAX_TAGS}, got ${different.length}`);
	}
	return different;
}
