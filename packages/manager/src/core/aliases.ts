import * as z from "zod";
import { type Entry, isConflict, MemoryStore, type Store } from "../store/store.js";
import { digest, slug } from "./names.js";

/** The longest alias, in characters. It leaves enough for a tool's name within 64. */
export const MAX_ALIAS_LENGTH = 24;

/** Digits of a MAC address that differ between boards of one kind. */
const TAIL_DIGITS = 6;

const PATTERN = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;
const RULE = `1 to ${MAX_ALIAS_LENGTH} of a-z, 0-9 and single "_" or "-" between them`;

/** The holder of an alias. `isDefault`: made from the board's name, not chosen by a person. */
const DEVICE = z.object({ device: z.string(), isDefault: z.boolean().optional() });

/** Key prefix in the store. An alias follows; the value is the device that has it. Aliases are stored nowhere else. */
export const ALIAS = "alias/";

/** Which server has which alias: short, unique names for clients and people. */
export class Aliases {
	readonly #store: Store;
	/** The setting `aliases`, by device. */
	readonly #chosen: ReadonlyMap<string, string>;
	/** The devices and servers of the configuration, by alias. */
	readonly #fixed = new Map<string, string>();
	readonly #holders = new Map<string, string>();
	/** The valid store entry of each device: its newest chosen alias, or else its newest default alias. */
	readonly #entries = new Map<string, Entry>();
	/** Devices whose next alias is being stored. */
	readonly #renaming = new Set<string>();
	/** Every alias in use, also one that is not stored yet. */
	readonly #owners = new Map<string, string>();

	/** @throws RangeError that names the device, if a chosen alias is not valid */
	constructor(store: Store = new MemoryStore(), chosen: ReadonlyMap<string, string> = new Map()) {
		this.#store = store;
		this.#chosen = chosen;
		for (const [id, alias] of chosen) {
			expectValid(id, alias);
			if (this.#fixed.has(alias)) {
				throw new RangeError(`alias ${alias}: already assigned to ${this.#fixed.get(alias)}`);
			}
			this.#fixed.set(alias, id);
			this.#owners.set(alias, id);
		}
		for (const entry of store.list(ALIAS)) {
			this.noteEntry(entry.key, entry);
		}
	}

	owner(alias: string): string | undefined {
		return this.#owners.get(alias);
	}

	/**
	 * Assigns an alias to a device: the configured one; else the stored one, unless it is configured for another server;
	 * else its current one, `before`; else its board's name and the last six digits of its MAC address.
	 */
	assign(id: string, boardName: string, before?: string): string {
		const stored = this.#entries.get(id)?.key.slice(ALIAS.length);
		const isFixed = (alias: string): boolean => (this.#fixed.get(alias) ?? id) !== id;
		const isTaken = (alias: string): boolean =>
			[this.#fixed, this.#owners, this.#holders].some((ids) => (ids.get(alias) ?? id) !== id);
		const unless = (isUsed: (alias: string) => boolean, known: string | undefined): string | undefined =>
			known !== undefined && isValidAlias(known) && !isUsed(known) ? known : undefined;
		let alias = this.#chosen.get(id) ?? unless(isFixed, stored) ?? unless(isTaken, before);
		if (alias === undefined) {
			const mac = /^(?:[0-9a-f]{2}[:-]?){6}$/i.test(id) ? id.toLowerCase().replace(/[^0-9a-f]/g, "") : digest(id);
			alias = aliasOf(boardName, mac.slice(-TAIL_DIGITS));
			// If another device has the first choice, the alias ends in twelve digits of a hash.
			for (let at = 0; isTaken(alias); at += 1) {
				alias = aliasOf(boardName, digest(`${at} ${id}`).slice(0, 2 * TAIL_DIGITS));
			}
		}
		if (before !== undefined && before !== alias) {
			this.release(id, before);
		}
		this.#owners.set(alias, id);
		return alias;
	}

	/** Applies a change of a store entry; undefined: it was removed. Returns the devices whose alias may have changed. */
	noteEntry(key: string, entry: Entry | undefined): Set<string> {
		const alias = key.slice(ALIAS.length);
		const before = this.#holders.get(alias);
		const holder = entry && DEVICE.safeParse(entry.value).data?.device;
		if (holder === undefined) {
			this.#holders.delete(alias);
		} else {
			this.#holders.set(alias, holder);
		}
		if (before !== undefined && this.#entries.get(before)?.key === key) {
			this.#entries.delete(before);
			// A gateway that was killed during a rename leaves a second entry. In a recreated store, an entry may be older
			// than the one that it replaces.
			const [newest] = this.#entriesOf(before).sort((a, b) => (isOutranked(a, b) ? 1 : -1));
			if (newest !== undefined) {
				this.#entries.set(before, newest);
			}
		}
		const known = holder === undefined ? undefined : this.#entries.get(holder);
		if (entry !== undefined && holder !== undefined && (known === undefined || !isOutranked(entry, known))) {
			this.#entries.set(holder, entry);
		}
		return new Set([holder, before, this.#owners.get(alias)].filter((id) => id !== undefined));
	}

	/**
	 * Assigns a configured server the alias made from its id. Six digits of a hash of the id are added if a device has
	 * that alias by setting, or if servers share it and it differs from the id. Returns the alias, and the device that lost it.
	 */
	claim(id: string, wish: string, isShared: boolean): { alias: string; loser: string | undefined } {
		const owner = this.#fixed.get(wish);
		const isChosen = owner !== undefined && owner !== id && this.#chosen.has(owner);
		const alias = isChosen || (isShared && id !== wish) ? aliasOf(wish, digest(id).slice(-TAIL_DIGITS)) : wish;
		if (alias !== wish && owner === id) {
			this.unclaim(id, wish);
		}
		const loser = this.#owners.get(alias);
		this.#fixed.set(alias, id);
		this.#owners.set(alias, id);
		return { alias, loser: loser === id ? undefined : loser };
	}

	/** Frees the alias of a configured server. Returns the device that has it in the store. */
	unclaim(id: string, alias: string): string | undefined {
		if (this.#fixed.get(alias) === id) {
			this.#fixed.delete(alias);
		}
		this.release(id, alias);
		return this.#holders.get(alias);
	}

	/** Frees an alias that a device no longer has here. A configured one stays reserved. */
	release(id: string, alias: string): void {
		if (!this.#chosen.has(id) && this.#owners.get(alias) === id) {
			this.#owners.delete(alias);
		}
	}

	/** Whether a device has an alias in the store or in the configuration, or one that is being stored. */
	isKept(id: string): boolean {
		return this.#chosen.has(id) || this.#entries.has(id) || this.#renaming.has(id);
	}

	/** Stores the alias of a device, unless there is one. Rejects with StoreError. */
	async keep(id: string, alias: string): Promise<void> {
		if (!this.isKept(id)) {
			const entry = await this.#store.set(ALIAS + alias, { device: id, isDefault: true }, 0);
			// Another gateway may have stored a chosen alias before this one received it.
			if (this.#entries.get(id)?.key !== entry.key) {
				await this.#remove([entry]);
			}
		}
	}

	/**
	 * Stores a new alias of a device, and then removes its previous one. Aliases of devices that are not known are free.
	 * Rejects with StoreError, or with RangeError when the alias is invalid, another server's, or configured.
	 */
	async rename(id: string, alias: string, isKnown: (id: string) => boolean): Promise<void> {
		const chosen = this.#chosen.get(id);
		if (chosen !== undefined) {
			throw new RangeError(`alias of ${id}: the setting aliases fixes it to ${chosen}`);
		}
		expectValid(id, alias);
		const expectFree = (): void => {
			const holder = [this.#fixed, this.#owners, this.#holders].map((ids) => ids.get(alias)).find(isAnother);
			if (holder !== undefined) {
				throw new RangeError(`alias ${alias}: already assigned to ${holder}`);
			}
		};
		const isAnother = (holder: string | undefined): boolean =>
			holder !== undefined && holder !== id && (this.#fixed.get(alias) === holder || isKnown(holder));
		expectFree();
		let entry: Entry;
		this.#renaming.add(id);
		try {
			entry = await this.#store.set(ALIAS + alias, { device: id }, this.#store.get(ALIAS + alias)?.revision ?? 0);
		} catch (error) {
			if (isConflict(error)) {
				expectFree();
			}
			throw error;
		} finally {
			this.#renaming.delete(id);
		}
		await this.#remove(this.#entriesOf(id).filter(({ revision }) => revision < entry.revision));
	}

	/** Removes the aliases of a forgotten device. Never rejects: an entry that stays applies if the device returns. */
	async forget(id: string): Promise<void> {
		await this.#remove(this.#entriesOf(id));
	}

	#entriesOf(id: string): Entry[] {
		return [...this.#holders]
			.filter(([, holder]) => holder === id)
			.flatMap(([alias]) => this.#store.get(ALIAS + alias) ?? []);
	}

	/** Removes entries. One that another gateway has changed, or that cannot be removed now, is left for the next change. */
	async #remove(entries: readonly Entry[]): Promise<void> {
		await Promise.all(entries.map(({ key, revision }) => this.#store.delete(key, revision).catch(() => {})));
	}
}

/** Whether the other of two entries of a device takes precedence: a chosen alias does, and then the newer one. */
function isOutranked(one: Entry, other: Entry): boolean {
	const [isDefault, isOtherDefault] = [one, other].map(({ value }) => DEVICE.safeParse(value).data?.isDefault === true);
	return isDefault === isOtherDefault ? one.revision < other.revision : isDefault === true;
}

function isValidAlias(alias: string): boolean {
	return alias.length <= MAX_ALIAS_LENGTH && PATTERN.test(alias);
}

function expectValid(id: string, alias: string): void {
	if (!isValidAlias(alias)) {
		throw new RangeError(`alias of ${id}: expected ${RULE}, got ${JSON.stringify(alias)}`);
	}
}

function aliasOf(boardName: string, tail: string): string {
	const name = slug(boardName, "_", MAX_ALIAS_LENGTH - tail.length - 1);
	return `${name || "device"}_${tail}`;
}

const MAX_TAGS = 16;

const MAX_TAG_LENGTH = 32;
const TAG =
	/^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[ _-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*$/u;
const TAG_RULE = `1 to ${MAX_TAG_LENGTH} visible letters and digits of any script, and single spaces, "_" or "-" between them`;

const MAX_TITLE_LENGTH = 64;

/** Characters that hide text or change its direction. Joiners and variation selectors are part of scripts and emoji. */
const INVISIBLE =
	/(?![\p{Join_Control}\p{Variation_Selector}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const VISIBLE = /[^\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** Means every device in a list of devices and tags. */
export const EVERY_DEVICE = "all";

/** Reads a device's title, a name for people in any script; empty: none. @throws RangeError that names the title */
export function readTitle(text: string): string {
	const title = text.normalize("NFC").trim();
	if (title.length > MAX_TITLE_LENGTH || INVISIBLE.test(title) || (title !== "" && !VISIBLE.test(title))) {
		const rule = `at most ${MAX_TITLE_LENGTH} visible characters in one line`;
		throw new RangeError(`title: expected ${rule}, got ${JSON.stringify(title.slice(0, 2 * MAX_TITLE_LENGTH))}`);
	}
	return title;
}

/** Returns tags in the form that is stored: unique and sorted. @throws RangeError that names the tag */
export function readTags(given: readonly string[]): readonly string[] {
	const tags = given.map((tag) => tag.normalize("NFC"));
	for (const tag of tags) {
		if (tag.length > MAX_TAG_LENGTH || !TAG.test(tag)) {
			throw new RangeError(`tag: expected ${TAG_RULE}, got ${JSON.stringify(tag.slice(0, 2 * MAX_TAG_LENGTH))}`);
		}
		if (tag.toLowerCase() === EVERY_DEVICE) {
			throw new RangeError(`tag ${tag}: reserved for every device`);
		}
	}
	const different = [...new Set(tags)].sort();
	if (different.length > MAX_TAGS) {
		throw new RangeError(`tags: a device has at most ${MAX_TAGS}, got ${different.length}`);
	}
	return different;
}
