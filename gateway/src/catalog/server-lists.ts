import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import type { Allowed, Listings, Naming } from "./listing.js";
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
}

/**
 * Every list of the servers in a scope: servers by alias, each in its own order. Each list is the same array until something
 * in it changes. Thousands of clients share one: each change is looked for once, not for each client.
 */
export class ServerLists {
	readonly #servers: ServerRegistry;
	readonly #scope: Scope;
	readonly #reachable: () => readonly Server[];
	readonly #tools: () => readonly Tool[];
	readonly #resources: () => readonly Resource[];
	readonly #resourceTemplates: () => readonly ResourceTemplateType[];
	readonly #prompts: () => readonly Prompt[];

	constructor(servers: ServerRegistry, { scope, naming, listings }: ServerListsOptions) {
		this.#servers = servers;
		this.#scope = scope;
		this.#reachable = perVersion(servers, () => this.#findReachable());
		const joined = <Item>(partOf: (server: Server) => readonly Item[], first: readonly Item[] = []) => {
			const join = joiner<Item>();
			return perVersion(servers, () => join([first, ...this.servers.map(partOf)]));
		};
		this.#tools = joined((server) => listings.tools(server, naming, this.allowed(server)));
		this.#resources = joined((server) => listings.resources(server, naming));
		this.#resourceTemplates = joined<ResourceTemplateType>(
			(server) => listings.templates(server, naming),
			[STATE_TEMPLATE],
		);
		this.#prompts = joined((server) => listings.prompts(server, naming));
	}

	/** By alias. */
	get servers(): readonly Server[] {
		return this.#reachable();
	}

	/** The server of a scope of one server, if it is known. */
	get only(): Server | undefined {
		const found = this.#scope.server === undefined ? undefined : this.#servers.find(this.#scope.server);
		return found !== undefined && this.reaches(found) ? found : undefined;
	}

	/** Every tool that may be called. Made only for clients that need it. */
	get tools(): readonly Tool[] {
		return this.#tools();
	}

	/** Of each server its state, and its own resources. */
	get resources(): readonly Resource[] {
		return this.#resources();
	}

	get resourceTemplates(): readonly ResourceTemplateType[] {
		return this.#resourceTemplates();
	}

	get prompts(): readonly Prompt[] {
		return this.#prompts();
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

/** Not `flat`: that takes ten times as long. */
function concatenated<Item>(parts: readonly (readonly Item[])[]): readonly Item[] {
	const items: Item[] = [];
	for (const part of parts) {
		for (const item of part) {
			items.push(item);
		}
	}
	return items;
}
