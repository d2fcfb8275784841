import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { Server, ServerRegistry, ServerTool } from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import { groupTools, hasGroup, type Member, type ToolGroup } from "./groups.js";
import { type Allowed, aliasIn, type Listings } from "./listing.js";
import type { Naming } from "./shared-list.js";
import { STATE_TEMPLATE } from "./state-resource.js";

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
const NO_GROUPS: ReadonlyMap<string, ToolGroup> = new Map();

/** Lists of the servers in a scope. */
export type ServerLists = ReturnType<typeof makeServerLists>;

/**
 * Makes every list of the servers in a scope: servers by alias, each in its own order. Each list is the same array until something
 * in it changes. Thousands of clients share one: each change is looked for once, not for each client.
 *
 * @param callSeveral the tool with which one call reaches several servers, for lists that have no groups
 * @param isReserved whether a tool of the gateway has this name
 */
export function makeServerLists(
	registry: ServerRegistry,
	scope: Scope,
	listings: Listings,
	callSeveral: Tool,
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
	function* members(): Generator<Member> {
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
	const several = [callSeveral];
	const shared = {
		members: () => (only === undefined ? members() : []),
		likeness: (tool: ServerTool) => listings.likeness(tool),
		listed: ({ server, tool }: Member) => listings.listed(server, "portable", tool),
		isTaken,
	};
	let known = NO_GROUPS;
	const groups = perVersion(registry, () => {
		known = groupTools(shared, known);
		return known;
	});
	const templates: readonly ResourceTemplateType[] = [STATE_TEMPLATE];
	return {
		registry,
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
		fullList: joined(toolsOf, () => (hasGroup(shared) ? several : NONE)),
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

/** Makes a value again only when something in the registry has changed. */
function perVersion<Value>(servers: ServerRegistry, make: () => Value): () => Value {
	let made: { readonly version: number; readonly value: Value } | undefined;
	return () => {
		const { version } = servers;
		if (made?.version !== version) {
			made = { version, value: make() };
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
			items = concatenated(next);
		}
		return items;
	};
}

/** Joins lists into an array of the right size: a growing one is copied. `flat` takes ten times as long. */
function concatenated<Item>(parts: readonly (readonly Item[])[]): readonly Item[] {
	const items = new Array<Item>(parts.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const part of parts) {
		for (const item of part) {
			items[at] = item;
			at += 1;
		}
	}
	return items;
}
