import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { Server, ServerTool } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { ALIAS_SEPARATOR, portableNames } from "./names.js";
import { clientUri } from "./resource-uris.js";
import type { ToolHints } from "./tool-hints.js";

/**
 * How tools and prompts are named in a client's list: as their server names them, in characters that every client takes, or
 * in those characters with the server's alias in front, which is then in the URIs of resources, too. See docs/gateway.md.
 */
export type Naming = "own" | "portable" | "prefixed";

/** An item of a server's list, and how clients see it: under another name. */
export interface NamedItem<Item> {
	readonly item: Item;
	readonly listed: Item;
}

type NamedItems<Item> = ReadonlyMap<string, NamedItem<Item>>;

/** Cached for each array of items, naming and prefix, so that an unchanged item stays the same object in lists. */
const made = new WeakMap<readonly object[], Map<string, NamedItems<object>>>();

interface ToolListing {
	readonly naming: Naming;
	readonly hints: ToolHints;
	/** Whether the client may see and call a tool of this server. */
	readonly allows: (server: Server, tool: ServerTool) => boolean;
}

/** A server's tools as a client lists them. */
export function listedTools(server: Server, listing: ToolListing): Tool[] {
	return namedTools(server, listing).map(({ listed }) => listed);
}

/** A server's tools, and how a client lists them. */
export function namedTools(server: Server, { naming, hints, allows }: ToolListing): NamedItem<Tool>[] {
	return [...byName(server.tools, server, naming).values()]
		.filter(({ item }) => allows(server, item))
		.map(({ item, listed }) => ({ item, listed: hints.added(item.name, listed) }));
}

/** A server's prompts as a client lists them. */
export function listedPrompts(server: Server, naming: Naming): Prompt[] {
	return [...byName(server.offers.prompts, server, naming).values()].map(({ listed }) => listed);
}

/** A server's resources as a client lists them. */
export function listedResources(server: Server, naming: Naming): Resource[] {
	const items = named(server.offers.resources, server, naming, ({ uri }) => uri, withAlias(server, "uri"));
	return [...items.values()].map(({ listed }) => listed);
}

/** A server's templates of resources as a client lists them. */
export function listedTemplates(server: Server, naming: Naming): ResourceTemplateType[] {
	const { resourceTemplates } = server.offers;
	const items = named(resourceTemplates, server, naming, (each) => each.uriTemplate, withAlias(server, "uriTemplate"));
	return [...items.values()].map(({ listed }) => listed);
}

/** The item of a server's list that has this name in lists of that naming. */
export function findByName<Item extends { readonly name: string }>(
	items: readonly Item[],
	server: Server,
	naming: Naming,
	name: string,
): Item | undefined {
	return byName(items, server, naming).get(name)?.item;
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

/** By the names that clients use, in the server's order. */
function byName<Item extends { readonly name: string }>(
	items: readonly Item[],
	server: Server,
	naming: Naming,
): NamedItems<Item> {
	const own = items.map(({ name }) => name);
	const make = (): NamedItems<Item> => {
		const names = naming === "own" ? own : [...portableNames(own, prefixOf(server, naming)).keys()];
		const rename = renamer(own, names);
		const uriFor = naming === "prefixed" ? (uri: string) => clientUri(uri, server.alias) : undefined;
		return new Map(
			items.map((item, index) => namedAs(names[index] as string, uriFor ? withPage(item, uriFor) : item, rename, item)),
		);
	};
	return cached(items, server, naming, make);
}

function namedAs<Item extends { readonly name: string }>(
	name: string,
	shown: Item,
	rename: (text: string) => string,
	item: Item,
): [string, NamedItem<Item>] {
	const { description } = shown as { readonly description?: unknown };
	const described = typeof description === "string" && { description: rename(description) };
	return [name, { item, listed: { ...shown, name, ...described } }];
}

/** A tool whose page (MCP Apps) is named by the URI that clients know; the member with a slash is the older form. */
function withPage<Item extends object>(item: Item, uriFor: (uri: string) => string): Item {
	const { _meta: meta } = item as { readonly _meta?: unknown };
	if (!isObject(meta)) {
		return item;
	}
	const { ui, "ui/resourceUri": older } = meta;
	const changed = {
		...(isObject(ui) && typeof ui.resourceUri === "string" && { ui: { ...ui, resourceUri: uriFor(ui.resourceUri) } }),
		...(typeof older === "string" && { "ui/resourceUri": uriFor(older) }),
	};
	return { ...item, _meta: { ...meta, ...changed } };
}

/**
 * Returns a function that replaces tool names in a text by those that clients see, because a model calls what a
 * description names. Names that could be ordinary words stay.
 */
function renamer(own: readonly string[], names: readonly string[]): (text: string) => string {
	const renamed = new Map(own.map((name, index) => [name, names[index] as string]));
	const telling = own.filter((name) => /[._-]/.test(name) && renamed.get(name) !== name);
	if (telling.length === 0) {
		return (text) => text;
	}
	// The longest first: one name may begin with another.
	const longestFirst = [...telling].sort((one, other) => other.length - one.length);
	const escaped = longestFirst.map((name) => name.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&"));
	const pattern = new RegExp(`(?<![\\w.-])(?:${escaped.join("|")})(?![\\w-]|\\.\\w)`, "g");
	return (text) => text.replace(pattern, (name) => renamed.get(name) ?? name);
}

/** By their own URIs, in the server's order. */
function named<Item extends object>(
	items: readonly Item[],
	server: Server,
	naming: Naming,
	keyOf: (item: Item) => string,
	withAliasIn: (item: Item) => Item,
): NamedItems<Item> {
	const listed = (item: Item): Item => (naming === "prefixed" ? withAliasIn(item) : item);
	return cached(
		items,
		server,
		naming,
		() => new Map(items.map((item) => [keyOf(item), { item, listed: listed(item) }])),
	);
}

/** Puts a server's alias into a resource's URI, and into its name and title, so that users can distinguish devices. */
function withAlias<Key extends string>({ alias }: Server, key: Key) {
	return <Item extends { readonly name: string; readonly title?: string | undefined } & Record<Key, string>>(
		item: Item,
	): Item => ({
		...item,
		[key]: clientUri(item[key], alias),
		name: `${alias}/${item.name}`,
		...(item.title !== undefined && { title: `${item.title}: ${alias}` }),
	});
}

function prefixOf({ alias }: Server, naming: Naming): string {
	return naming === "prefixed" ? alias : "";
}

function cached<Item extends object>(
	items: readonly Item[],
	server: Server,
	naming: Naming,
	make: () => NamedItems<Item>,
): NamedItems<Item> {
	const known = made.get(items) ?? new Map<string, NamedItems<object>>();
	made.set(items, known);
	const key = `${naming} ${prefixOf(server, naming)}`;
	const found = known.get(key) ?? make();
	known.set(key, found);
	return found as NamedItems<Item>;
}
