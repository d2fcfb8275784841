import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server, type ServerPrompt, type ServerTool, withoutExecution } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { likenessOf } from "./groups.js";
import { ALIAS_SEPARATOR, portableNames } from "./names.js";
import { clientUri } from "./resource-uris.js";
import { stateResource } from "./state-resource.js";
import type { ToolHints } from "./tool-hints.js";

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

/** Which of a server's tools a client may see and call. */
export interface Allowed {
	readonly userTools: boolean;
	/** Only tools that are known to be read-only. */
	readonly readOnly: boolean;
}

type Named = { readonly name: string };

/** A value derived from a list of each server. It stays the same as long as the server has the same list and alias. */
class PerServer<Item extends object, Value> {
	readonly #made = new WeakMap<
		Server,
		{ readonly items: readonly Item[]; readonly alias: string; readonly value: Value }
	>();

	of(server: Server, items: readonly Item[], make: () => Value): Value {
		const known = this.#made.get(server);
		if (known?.items === items && known.alias === server.alias) {
			return known.value;
		}
		const value = make();
		this.#made.set(server, { items, alias: server.alias, value });
		return value;
	}
}

/** Values derived from servers' lists, for one naming. */
class Made {
	readonly namedTools = new PerServer<ServerTool, readonly NamedItem<Tool>[]>();
	/** For each {@link Allowed}. */
	readonly tools = Array.from({ length: 4 }, () => new PerServer<ServerTool, readonly Tool[]>());
	readonly prompts = new PerServer<ServerPrompt, readonly Prompt[]>();
	readonly resources = new PerServer<Resource, readonly Resource[]>();
	readonly templates = new PerServer<ResourceTemplateType, readonly ResourceTemplateType[]>();
}

/**
 * Items by the names that clients use. Servers with the same list share them, if their aliases are of the same length: a
 * call needs nothing that is made for its device alone.
 */
class ItemsByName<Item extends Named> {
	readonly #made = new WeakMap<readonly Item[], Map<string, ReadonlyMap<string, Item>>>();

	find(items: readonly Item[], { alias }: Server, naming: Lookup, name: string): Item | undefined {
		const prefix = naming === "prefixed" ? alias + ALIAS_SEPARATOR : "";
		if (!name.startsWith(prefix)) {
			return undefined;
		}
		const ofList = this.#made.get(items) ?? new Map<string, ReadonlyMap<string, Item>>();
		const key = naming === "prefixed" ? String(alias.length) : naming;
		const byName =
			ofList.get(key) ??
			new Map(namesOf(items, alias, naming).map((each, index) => [each.slice(prefix.length), items[index] as Item]));
		this.#made.set(items, ofList.set(key, byName));
		return byName.get(name.slice(prefix.length));
	}
}

/** Most servers have neither prompts nor templates. */
const NONE: readonly never[] = [];

/**
 * Servers' lists as clients see them. What is made of a list stays the same object as long as the server has the same list
 * and alias: so catalogs see what has changed, and do not rebuild the lists of thousands of servers.
 */
export class Listings {
	readonly #hints: ToolHints;
	readonly #tools = new ItemsByName<ServerTool>();
	readonly #prompts = new ItemsByName<ServerPrompt>();
	readonly #likenesses = new WeakMap<ServerTool, string>();
	readonly #made: Readonly<Record<Naming, Made>> = { portable: new Made(), prefixed: new Made() };

	/** @param hints for tools without any */
	constructor(hints: ToolHints) {
		this.#hints = hints;
	}

	/** A tool with hints: see {@link ToolHints.added}. */
	hinted(tool: ServerTool): ServerTool {
		return this.#hints.added(tool.name, tool);
	}

	/** {@link likenessOf}, computed once: thousands of servers share tools. */
	likeness(tool: ServerTool): string {
		const likeness = this.#likenesses.get(tool) ?? likenessOf(this.hinted(tool));
		this.#likenesses.set(tool, likeness);
		return likeness;
	}

	/** Whether a client may see and call a tool. User-only tools, and tools without a read-only hint, need more rights. */
	allows(tool: ServerTool, { userTools, readOnly }: Allowed): boolean {
		return (userTools || !isUserOnly(tool)) && (!readOnly || this.hinted(tool).annotations?.readOnlyHint === true);
	}

	/** A server's tools as a client lists them. */
	tools(server: Server, naming: Naming, allowed: Allowed): readonly Tool[] {
		const made = this.#made[naming].tools[Number(allowed.userTools) + 2 * Number(allowed.readOnly)];
		return (made as Made["tools"][number]).of(server, server.tools, () =>
			this.#namedTools(server, naming)
				.filter(({ item }) => this.allows(item, allowed))
				.map(({ listed }) => listed),
		);
	}

	#namedTools(server: Server, naming: Naming): readonly NamedItem<Tool>[] {
		return this.#made[naming].namedTools.of(server, server.tools, () =>
			namedItems(server.tools, server, naming, (tool) => withoutExecution(this.hinted(tool))),
		);
	}

	/** How a client lists a tool of a server. */
	listed(server: Server, naming: Naming, tool: ServerTool): Tool {
		const named = this.#namedTools(server, naming).find(({ item }) => item === tool);
		return named?.listed ?? tool;
	}

	/** The tool of this name. */
	findTool(server: Server, naming: Lookup, name: string): ServerTool | undefined {
		return this.#tools.find(server.tools, server, naming, name);
	}

	/** A server's prompts as a client lists them. */
	prompts(server: Server, naming: Naming): readonly Prompt[] {
		const { prompts } = server.offers;
		return prompts.length === 0
			? NONE
			: this.#made[naming].prompts.of(server, prompts, () =>
					namedItems(prompts, server, naming, itself).map(({ listed }) => listed),
				);
	}

	/** The prompt of this name. */
	findPrompt(server: Server, naming: Lookup, name: string): ServerPrompt | undefined {
		return this.#prompts.find(server.offers.prompts, server, naming, name);
	}

	/** A server's state, and its resources as a client lists them. */
	resources(server: Server, naming: Naming): readonly Resource[] {
		const { resources } = server.offers;
		return this.#made[naming].resources.of(server, resources, () => {
			const state = stateResource(server);
			const listed = resources.map(naming === "prefixed" ? withAlias(server, "uri") : itself);
			return [state, ...listed.filter(({ uri }) => uri !== state.uri)];
		});
	}

	/** A server's templates of resources as a client lists them. */
	templates(server: Server, naming: Naming): readonly ResourceTemplateType[] {
		const { resourceTemplates } = server.offers;
		return resourceTemplates.length === 0
			? NONE
			: this.#made[naming].templates.of(server, resourceTemplates, () =>
					resourceTemplates.map(naming === "prefixed" ? withAlias(server, "uriTemplate") : itself),
				);
	}
}

function itself<Item>(item: Item): Item {
	return item;
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

function namesOf(items: readonly Named[], alias: string, naming: Lookup): readonly string[] {
	const own = items.map(({ name }) => name);
	return naming === "own" ? own : [...portableNames(own, naming === "prefixed" ? alias : "").keys()];
}

function namedItems<Item extends Named>(
	items: readonly Item[],
	{ alias }: Server,
	naming: Naming,
	shownAs: (item: Item) => Item,
): readonly NamedItem<Item>[] {
	const names = namesOf(items, alias, naming);
	const own = items.map(({ name }) => name);
	const rename = renamer(own, names);
	const uriFor = naming === "prefixed" ? (uri: string) => clientUri(uri, alias) : undefined;
	return items.map((item, index) => {
		const shown = uriFor ? withPage(shownAs(item), uriFor) : shownAs(item);
		const { description } = shown as { readonly description?: unknown };
		const described = typeof description === "string" && { description: rename(description) };
		const schemas = withSchemas(shown, rename);
		return { item, listed: { ...shown, name: names[index] as string, ...described, ...schemas } };
	});
}

/** A tool's schemas, if a description in them names a tool by another name than clients know. */
function withSchemas(item: object, rename: (text: string) => string): object {
	const { inputSchema, outputSchema } = item as { readonly inputSchema?: object; readonly outputSchema?: object };
	return {
		...(inputSchema && { inputSchema: withDescriptions(inputSchema, rename) }),
		...(outputSchema && { outputSchema: withDescriptions(outputSchema, rename) }),
	};
}

/** The same value if nothing in it changes: thousands of servers share schemas. */
function withDescriptions<Value>(value: Value, rename: (text: string) => string): Value {
	if (!Array.isArray(value) && !isObject(value)) {
		return value;
	}
	const changed = Object.entries(value).flatMap(([key, member]) => {
		const isText = key === "description" && typeof member === "string";
		const next = isText ? rename(member) : withDescriptions(member, rename);
		return next === member ? [] : [[key, next] as const];
	});
	return changed.length === 0
		? value
		: (Object.assign(Array.isArray(value) ? [...value] : { ...value }, Object.fromEntries(changed)) as Value);
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
