import { isObject } from "xs-mcp-firmware/core/text/json";
import { digest, portable, type Server } from "xs-mcp-manager/core";
import { clientUri } from "./state-resource.js";

/**
 * How tools and prompts are named in a client's list: in characters that every client takes, or in those characters with the
 * server's alias in front, which is then in the URIs of resources, too. See docs/gateway/client-view.md.
 */
export type Naming = "portable" | "prefixed";

/** How a client may name an item: as a list does, or as its server does. */
export type Lookup = Naming | "own";

/** An item of a server's list, and how clients see it: under another name. */
export interface NamedItem<Item> {
	readonly item: Item;
	readonly listed: Item;
}

/** A tool or a prompt. */
interface Described {
	readonly name: string;
	readonly description?: string | undefined;
	readonly inputSchema?: object | undefined;
	readonly outputSchema?: object | undefined;
	readonly _meta?: unknown;
}

type Rename = (text: string) => string;

/** The members that may name other items of the list. */
const TEXTS = ["description", "inputSchema", "outputSchema"] as const;

/** Never matches. */
const NOTHING = /(?!)/g;

/** A list of tools or prompts. Thousands of servers share one, so whatever does not depend on their aliases is computed once. */
interface SharedList<Item> {
	find(name: string, server: Server, naming: Lookup): Item | undefined;
	/**
	 * Returns the items under the names that clients use. Descriptions use these names, too: a model calls the tools that they
	 * mention.
	 */
	named(server: Server, naming: Naming): readonly NamedItem<Item>[];
}

/**
 * Makes a function that returns the {@link SharedList} of each list of tools or prompts.
 *
 * @param shownAs returns an item as clients see it, under its own name
 */
export function sharedLists<Item extends Described>(
	shownAs: (item: Item) => Item,
): (items: readonly Item[]) => SharedList<Item> {
	const made = new WeakMap<readonly Item[], SharedList<Item>>();
	return (items) => {
		const list = made.get(items) ?? sharedList(items, shownAs);
		made.set(items, list);
		return list;
	};
}

function sharedList<Item extends Described>(items: readonly Item[], shownAs: (item: Item) => Item): SharedList<Item> {
	const distinctive = items.map(({ name }) => name).filter((name) => /[._-]/.test(name));
	// Longest first, because one name may be a prefix of another.
	const longestFirst = distinctive.sort((one, other) => other.length - one.length);
	const escaped = longestFirst.map((name) => name.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&"));
	/** Matches names of the items that cannot be ordinary words. */
	const pattern =
		escaped.length === 0 ? NOTHING : new RegExp(`(?<![\\w.-])(?:${escaped.join("|")})(?![\\w-]|\\.\\w)`, "g");
	const shown = items.map((each) => {
		const item = shownAs(each);
		return { item, texts: TEXTS.filter((key) => namesItem(item[key], pattern)) };
	});
	/** The items by the names that clients use, without the alias. */
	const byNaming = new Map<string, ReadonlyMap<string, Item>>();
	const byName = (alias: string, naming: Lookup): ReadonlyMap<string, Item> => {
		// Prefixed names depend on the alias's length: long ones are shortened to fit.
		const key = naming === "prefixed" ? String(alias.length) : naming;
		const known =
			byNaming.get(key) ?? new Map(namesOf(items, alias, naming).map((name, index) => [name, items[index] as Item]));
		byNaming.set(key, known);
		return known;
	};
	return {
		find(name, { alias }, naming) {
			const prefix = prefixOf(alias, naming);
			return name.startsWith(prefix) ? byName(alias, naming).get(name.slice(prefix.length)) : undefined;
		},
		named({ alias }, naming) {
			const prefix = prefixOf(alias, naming);
			const names = [...byName(alias, naming).keys()].map((name) => prefix + name);
			const renamed = new Map(items.map(({ name }, index) => [name, names[index] as string]));
			const rename: Rename = (text) => text.replace(pattern, (name) => renamed.get(name) ?? name);
			return shown.map(({ item, texts }, index) => {
				const paged = naming === "prefixed" ? withPage(item, alias) : item;
				const changed = texts.map((key) => [key, withNames(key, paged[key], rename)] as const);
				return {
					item: items[index] as Item,
					listed: { ...paged, name: names[index] as string, ...Object.fromEntries(changed) },
				};
			});
		},
	};
}

/** Returns whether a text, or a description in a schema, names an item. */
function namesItem(value: unknown, pattern: RegExp): boolean {
	if (typeof value === "string") {
		return value.search(pattern) >= 0;
	}
	return (
		(Array.isArray(value) || isObject(value)) &&
		Object.entries(value).some(
			([key, member]) => (typeof member !== "string" || key === "description") && namesItem(member, pattern),
		)
	);
}

function prefixOf(alias: string, naming: Lookup): string {
	return naming === "prefixed" ? alias + ALIAS_SEPARATOR : "";
}

function namesOf(items: readonly Described[], alias: string, naming: Lookup): readonly string[] {
	const own = items.map(({ name }) => name);
	if (naming === "own") {
		return own;
	}
	const names = [...portableNames(own, naming === "prefixed" ? alias : "").keys()];
	return names.map((name) => name.slice(prefixOf(alias, naming).length));
}

/** A description, or a schema with its descriptions, with the names that clients use. */
function withNames(key: string, value: unknown, rename: Rename): unknown {
	if (typeof value === "string") {
		return key === "description" ? rename(value) : value;
	}
	if (Array.isArray(value)) {
		return value.map((member) => withNames("", member, rename));
	}
	return isObject(value)
		? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNames(name, member, rename)]))
		: value;
}

/** Replaces the URI of a tool's page (MCP Apps) by the one that clients use; `ui/resourceUri` is the older form. */
function withPage<Item extends Described>(item: Item, alias: string): Item {
	const { _meta: meta } = item;
	if (!isObject(meta)) {
		return item;
	}
	const { ui, "ui/resourceUri": older } = meta;
	const changed = {
		...(isObject(ui) &&
			typeof ui.resourceUri === "string" && { ui: { ...ui, resourceUri: clientUri(ui.resourceUri, alias) } }),
		...(typeof older === "string" && { "ui/resourceUri": clientUri(older, alias) }),
	};
	return { ...item, _meta: { ...meta, ...changed } };
}

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
			const start = portable.slice(0, length - HASH_DIGITS - 1);
			// If the name with a hash is taken, another hash.
			for (let attempt = 0; attempt === 0 || taken.has(portable); attempt += 1) {
				portable = `${start}_${digest(`${attempt} ${name}`).slice(0, HASH_DIGITS)}`;
			}
		}
		taken.add(portable);
		names.set(prefix + portable, name);
	}
	return names;
}
