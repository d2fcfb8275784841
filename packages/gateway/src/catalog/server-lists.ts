import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server, type ServerRegistry, type ServerTool, withoutExecution } from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import type { FoundTool } from "./catalog.js";
import { groupTools, hasGroup, likenessOf, type ToolGroup } from "./groups.js";
import { ALIAS_SEPARATOR, type Lookup, type NamedItem, type Naming, sharedLists } from "./shared-list.js";
import { clientUri, STATE_TEMPLATE, stateResource } from "./state-resource.js";
import { toolHints } from "./tool-hints.js";

/** The servers that a client may reach, and which of their tools it may see. */
export interface Scope {
	/** Alias or id: only this server, which need not be known yet. Undefined: all servers. */
	readonly server: string | undefined;
	/** Ids of devices: only these. Undefined: every device. */
	readonly devices: Access["devices"] | undefined;
	readonly userTools: Access["userTools"];
	readonly readOnly: boolean;
}

const NONE: readonly never[] = [];

/** Lists of the servers in a scope. */
export type ServerLists = ReturnType<typeof makeServerLists>;

/**
 * Makes every list of the servers in a scope: servers by alias, each in its own order. Each list is the same array until something
 * in it changes. Thousands of clients share one: each change is looked for once, not for each client.
 *
 * @param callSeveral the tools with which one call reaches several servers, for lists that have no groups
 * @param isReserved whether a tool of the gateway has this name
 */
export function makeServerLists(
	registry: ServerRegistry,
	scope: Scope,
	listings: Listings,
	callSeveral: readonly Tool[],
	isReserved: (name: string) => boolean,
) {
	const { devices, server: only, userTools, readOnly } = scope;
	const naming: Naming = only === undefined ? "prefixed" : "portable";
	const reaches = (candidate: Server): boolean =>
		devices?.has(candidate.id) !== false && (only === undefined || registry.find(only) === candidate);
	/** The server of a scope of one server, if it is known. */
	const findOnly = (): Server | undefined => {
		const found = only === undefined ? undefined : registry.find(only);
		return found !== undefined && reaches(found) ? found : undefined;
	};
	const servers = perVersion(registry, (): readonly Server[] => {
		const found = findOnly();
		if (only !== undefined) {
			return found === undefined ? NONE : [found];
		}
		return devices === undefined ? registry.all : registry.all.filter(({ id }) => devices.has(id));
	});
	const allowed = ({ id }: Server): Allowed => ({
		userTools: typeof userTools === "boolean" ? userTools : userTools.has(id),
		readOnly,
	});
	function* members(): Generator<FoundTool> {
		for (const server of servers()) {
			const rights = allowed(server);
			for (const tool of server.tools) {
				if (listings.allows(tool, rights)) {
					yield { server, tool };
				}
			}
		}
	}
	const isTaken = (name: string): boolean => {
		const alias = aliasIn(name);
		return isReserved(name) || (alias !== undefined && registry.find(alias) !== undefined);
	};
	const joined = <Item>(partOf: (server: Server) => readonly Item[], first: () => readonly Item[] = () => NONE) => {
		const join = joiner<Item>();
		return perVersion(registry, () => join([first(), ...servers().map(partOf)]));
	};
	const toolsOf = (server: Server): readonly Tool[] => listings.tools(server, naming, allowed(server));
	const shared = {
		members: () => (only === undefined ? members() : []),
		likeness: (tool: ServerTool) => listings.likeness(tool),
		listed: ({ server, tool }: FoundTool) => listings.listed(server, "portable", tool),
		isTaken,
	};
	const groups = perVersion(registry, (before: ReadonlyMap<string, ToolGroup> = new Map()) =>
		groupTools(shared, before),
	);
	const templates: readonly ResourceTemplateType[] = [STATE_TEMPLATE];
	return {
		scope,
		listings,
		naming,
		findOnly,
		/** Sorted by alias. */
		servers,
		/** Whether a server is in the scope. */
		reaches,
		/** Returns which of a server's tools may be seen and called. */
		allowed,
		/** The servers' tools that may be called. */
		members,
		/** Every tool that may be called. Made only for clients that need it. */
		tools: joined(toolsOf),
		/**
		 * Every tool, after one for calls of several servers if any of them share a tool. Not made of `tools`: in a list of 80,000,
		 * each copy takes some milliseconds.
		 */
		fullList: joined(toolsOf, () => (hasGroup(shared) ? callSeveral : NONE)),
		/** The tools that several servers share, by the names under which one call reaches them. None in a scope of one server. */
		groups,
		/** Returns the group of this name. */
		findGroup: (name: string): ToolGroup | undefined => (isTaken(name) ? undefined : groups().get(name)),
		/** Each server's state, and its own resources. */
		resources: joined<Resource>((server) => listings.resources(server, naming)),
		resourceTemplates: joined<ResourceTemplateType>(
			(server) => listings.templates(server, naming),
			() => templates,
		),
		prompts: joined<Prompt>((server) => listings.prompts(server, naming)),
	};
}

/** Remakes a value only when something in the registry has changed. @param make gets the previous value */
export function perVersion<Value>(servers: ServerRegistry, make: (before?: Value) => Value): () => Value {
	let made: { readonly version: number; readonly value: Value } | undefined;
	return () => {
		const { version } = servers;
		if (made?.version !== version) {
			made = { version, value: make(made?.value) };
		}
		return made.value;
	};
}

/** Joins lists. As long as they are the same, the result is the same array: comparing each item took most of the time. */
function joiner<Item>(): (parts: readonly (readonly Item[])[]) => readonly Item[] {
	let before: readonly (readonly Item[])[] = [];
	let items: readonly Item[] = [];
	return (parts) => {
		const next = parts.filter(({ length }) => length > 0);
		if (next.length !== before.length || next.some((part, index) => part !== before[index])) {
			before = next;
			// An array of the right size: a growing one is copied, and `flat` takes ten times as long.
			const joined = new Array<Item>(next.reduce((sum, { length }) => sum + length, 0));
			let at = 0;
			for (const part of next) {
				for (const item of part) {
					joined[at] = item;
					at += 1;
				}
			}
			items = joined;
		}
		return items;
	};
}

/** Which of a server's tools a client may see and call. */
export interface Allowed {
	readonly userTools: boolean;
	/** Only tools that are known to be read-only. */
	readonly readOnly: boolean;
}

/**
 * Makes a function that derives a list from one of a server's, for a naming. The derived list stays the same object while the
 * server has the same list and alias. Nothing is kept for an empty list, unless the derived one is not empty.
 */
function derivedList<Item extends object, Listed>(
	itemsOf: (server: Server) => readonly Item[],
	derive: (server: Server, naming: Naming, items: readonly Item[]) => readonly Listed[],
	isNeverEmpty = false,
): (server: Server, naming: Naming) => readonly Listed[] {
	type Kept = { readonly items: readonly Item[]; readonly alias: string; readonly derived: readonly Listed[] };
	const kept = { portable: new WeakMap<Server, Kept>(), prefixed: new WeakMap<Server, Kept>() };
	return (server, naming) => {
		const { alias } = server;
		const items = itemsOf(server);
		if (items.length === 0 && !isNeverEmpty) {
			return NONE;
		}
		const known = kept[naming].get(server);
		if (known?.items === items && known.alias === alias) {
			return known.derived;
		}
		const derived = derive(server, naming, items);
		kept[naming].set(server, { items, alias, derived });
		return derived;
	};
}

/** Servers' lists as clients see them. */
export type Listings = ReturnType<typeof makeListings>;

/** Makes servers' lists as clients see them. Catalogs notice changes cheaply, and do not rebuild the lists of thousands of servers. */
export function makeListings(configured?: Parameters<typeof toolHints>[0]) {
	const hints = toolHints(configured);
	const hinted = (tool: ServerTool): ServerTool => hints(tool.name, tool);
	const toolLists = sharedLists<ServerTool>((tool) => withoutExecution(hinted(tool)));
	const promptLists = sharedLists<Prompt>(itself);
	const likenesses = new WeakMap<ServerTool, string>();
	/** Whether a client may see and call a tool. User-only tools, and tools without a read-only hint, need more rights. */
	const allows = (tool: ServerTool, { userTools, readOnly }: Allowed): boolean =>
		(userTools || !isUserOnly(tool)) && (!readOnly || hinted(tool).annotations?.readOnlyHint === true);
	const toolsOf = ({ tools }: Server): readonly ServerTool[] => tools;
	const namedTools = derivedList<ServerTool, NamedItem<Tool>>(toolsOf, (server, naming, tools) =>
		toolLists(tools).named(server, naming),
	);
	/** For each {@link Allowed}. */
	const tools = [0, 1, 2, 3].map((rights) => {
		const allowed = { userTools: rights % 2 === 1, readOnly: rights >= 2 };
		const isAllowed = ({ item }: NamedItem<Tool>): boolean => allows(item, allowed);
		return derivedList<ServerTool, Tool>(toolsOf, (server, naming) =>
			namedTools(server, naming)
				.filter(isAllowed)
				.map(({ listed }) => listed),
		);
	});
	return {
		hinted,
		/** {@link likenessOf}, computed once: thousands of servers share tools. */
		likeness(tool: ServerTool): string {
			const likeness = likenesses.get(tool) ?? likenessOf(hinted(tool));
			likenesses.set(tool, likeness);
			return likeness;
		},
		allows,
		/** A server's tools as a client lists them. */
		tools: (server: Server, naming: Naming, { userTools, readOnly }: Allowed): readonly Tool[] =>
			tools[Number(userTools) + 2 * Number(readOnly)]?.(server, naming) ?? NONE,
		/** How a client lists a tool of a server. */
		listed(server: Server, naming: Naming, tool: ServerTool): Tool {
			const named = namedTools(server, naming).find(({ item }) => item === tool);
			return named?.listed ?? tool;
		},
		findTool: (server: Server, naming: Lookup, name: string): ServerTool | undefined =>
			toolLists(server.tools).find(name, server, naming),
		/** A server's prompts as a client lists them. */
		prompts: derivedList<Prompt, Prompt>(
			({ offers }) => offers.prompts,
			(server, naming, prompts) =>
				promptLists(prompts)
					.named(server, naming)
					.map(({ listed }) => listed),
		),
		findPrompt: (server: Server, naming: Lookup, name: string): Prompt | undefined =>
			promptLists(server.offers.prompts).find(name, server, naming),
		/** A server's state, and its resources as a client lists them. */
		resources: derivedList<Resource, Resource>(
			({ offers }) => offers.resources,
			(server, naming, resources) => {
				const state = stateResource(server);
				const listed = resources.map(naming === "prefixed" ? withAlias(server, "uri") : itself);
				return [state, ...listed.filter(({ uri }) => uri !== state.uri)];
			},
			true,
		),
		/** A server's templates of resources as a client lists them. */
		templates: derivedList<ResourceTemplateType, ResourceTemplateType>(
			({ offers }) => offers.resourceTemplates,
			(server, naming, templates) => templates.map(naming === "prefixed" ? withAlias(server, "uriTemplate") : itself),
		),
	};
}

function itself<Item>(item: Item): Item {
	return item;
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
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
