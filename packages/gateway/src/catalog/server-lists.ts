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

interface ServerListsOptions {
	readonly scope: Scope;
	readonly naming: Naming;
	readonly listings: Listings;
	/** The tool with which one call reaches several servers, for lists that have no groups. */
	readonly callSeveral: Tool;
	/** Whether a tool of the gateway has this name. */
	readonly isReserved: (name: string) => boolean;
}

const NONE: readonly never[] = [];
const NO_GROUPS: ReadonlyMap<string, ToolGroup> = new Map();

/**
 * Every list of the servers in a scope: servers by alias, each in its own order. Each list is the same array until something
 * in it changes. Thousands of clients share one: each change is looked for once, not for each client.
 */
export class ServerLists {
	readonly #servers: ServerRegistry;
	readonly #scope: Scope;
	readonly #options: ServerListsOptions;
	/** Sorted by alias. */
	readonly servers: () => readonly Server[];
	/** Every tool that may be called. Made only for clients that need it. */
	readonly tools: () => readonly Tool[];
	/** Every tool, after one for calls of several servers if any of them share a tool. */
	readonly fullList: () => readonly Tool[];
	/** The tools that several servers share, by the names under which one call reaches them. None in a scope of one server. */
	readonly groups: () => ReadonlyMap<string, ToolGroup>;
	/** Each server's state, and its own resources. */
	readonly resources: () => readonly Resource[];
	readonly resourceTemplates: () => readonly ResourceTemplateType[];
	readonly prompts: () => readonly Prompt[];

	constructor(servers: ServerRegistry, options: ServerListsOptions) {
		const { scope, naming, listings, callSeveral } = options;
		this.#servers = servers;
		this.#scope = scope;
		this.#options = options;
		this.servers = perVersion(servers, () => this.#findReachable());
		const joined = <Item>(partOf: (server: Server) => readonly Item[], first: () => readonly Item[] = () => NONE) => {
			const join = joiner<Item>();
			return perVersion(servers, () => join([first(), ...this.servers().map(partOf)]));
		};
		const toolsOf = (server: Server): readonly Tool[] => listings.tools(server, naming, this.allowed(server));
		this.tools = joined(toolsOf);
		const several = [callSeveral];
		const shared = {
			members: () => (scope.server === undefined ? this.members() : []),
			likeness: (tool: ServerTool) => listings.likeness(tool),
			listed: ({ server, tool }: Member) => listings.listed(server, "portable", tool),
			isTaken: (name: string) => this.#isTaken(name),
		};
		// Not made of `tools`: in a list of 80,000, each copy takes some milliseconds.
		this.fullList = joined(toolsOf, () => (hasGroup(shared) ? several : NONE));
		let groups = NO_GROUPS;
		this.groups = perVersion(servers, () => {
			groups = groupTools(shared, groups);
			return groups;
		});
		const templates = [STATE_TEMPLATE];
		this.resources = joined((server) => listings.resources(server, naming));
		this.resourceTemplates = joined<ResourceTemplateType>(
			(server) => listings.templates(server, naming),
			() => templates,
		);
		this.prompts = joined((server) => listings.prompts(server, naming));
	}

	/** The server of a scope of one server, if it is known. */
	get only(): Server | undefined {
		const found = this.#scope.server === undefined ? undefined : this.#servers.find(this.#scope.server);
		return found !== undefined && this.reaches(found) ? found : undefined;
	}

	/** The group of this name. */
	findGroup(name: string): ToolGroup | undefined {
		return this.#isTaken(name) ? undefined : this.groups().get(name);
	}

	/** Whether a server is in the scope. */
	reaches(candidate: Server): boolean {
		const { devices, server } = this.#scope;
		return devices?.has(candidate.id) !== false && (server === undefined || this.#servers.find(server) === candidate);
	}

	/** Which of a server's tools may be seen and called. */
	allowed({ id }: Server): Allowed {
		const { userTools, readOnly } = this.#scope;
		return { userTools: typeof userTools === "boolean" ? userTools : userTools.has(id), readOnly };
	}

	/** The servers' tools that may be called. */
	*members(): Generator<Member> {
		for (const server of this.servers()) {
			const allowed = this.allowed(server);
			for (const tool of server.tools) {
				if (this.#options.listings.allows(tool, allowed)) {
					yield { server, tool };
				}
			}
		}
	}

	#isTaken(name: string): boolean {
		const alias = aliasIn(name);
		return this.#options.isReserved(name) || (alias !== undefined && this.#servers.find(alias) !== undefined);
	}

	#findReachable(): readonly Server[] {
		const { devices, server } = this.#scope;
		if (server !== undefined) {
			return this.only === undefined ? [] : [this.only];
		}
		return devices === undefined ? this.#servers.all : this.#servers.all.filter(({ id }) => devices.has(id));
	}
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
