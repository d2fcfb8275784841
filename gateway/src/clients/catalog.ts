import type { Resource, Tool } from "@modelcontextprotocol/server";
import type { Notification, ServerRegistry } from "../servers/registry.js";
import { isUserOnly, type Server } from "../servers/server.js";
import type { ServerTool } from "../servers/session.js";
import type { Access } from "./access.js";
import { aliasInStateUri, stateResource } from "./state-resource.js";
import { aliasIn, findTool, listedTools, type Naming } from "./tool-listing.js";

/** A tool that a client named, and the server that has it. */
export interface FoundTool {
	readonly server: Server;
	readonly tool: ServerTool;
}

/** A list of a catalog. */
export type ListName = "tools" | "resources";

/** The state of a server is different. */
export interface StateChange {
	readonly kind: "state";
	readonly server: Server;
	/** What the server itself said of it, if that is why. */
	readonly cause: Notification | undefined;
}

/** What is different in a catalog: a list, or a server's state. */
export type CatalogChange = { readonly kind: ListName } | StateChange;

export interface CatalogOptions {
	/** Its {@link catalogKey}. */
	readonly key: string;
	readonly access: Access;
	/** Alias or id: only this server. It may become known later. Undefined: all servers. */
	readonly server: string | undefined;
	readonly naming: Naming;
}

/** What one client sees: the tools and resources of the servers that it may reach, under names that do not collide. */
export class Catalog {
	readonly #servers: ServerRegistry;
	readonly #options: CatalogOptions;
	readonly #listeners = new Set<(change: CatalogChange) => void>();
	readonly #onChanged = (): void => this.#compare();
	readonly #onStateChanged = (server: Server, cause?: Notification): void => this.#tellState(server, cause);
	#tools: readonly Tool[] = [];
	#resources: readonly Resource[] = [];
	#version = -1;
	/** The lists that listeners know. */
	#told: { tools: readonly Tool[]; resources: readonly Resource[] } = { tools: [], resources: [] };

	constructor(servers: ServerRegistry, options: CatalogOptions) {
		this.#servers = servers;
		this.#options = options;
	}

	/** The same for clients with the same access, on the same path. */
	get key(): string {
		return this.#options.key;
	}

	/** Whether there is a server in it. */
	get hasServer(): boolean {
		return this.#reachable().length > 0;
	}

	/** Whether every client sees the same: then the list may be kept by caches that clients share. */
	get isPublic(): boolean {
		const { principal, devices, userTools } = this.#options.access;
		return principal === "local" && devices === undefined && userTools === false;
	}

	/** The list of tools: servers by alias, each in its own order. The same array until something in it changes. */
	get tools(): readonly Tool[] {
		this.#update();
		return this.#tools;
	}

	/** The list of resources: the state of each server. The same array until something in it changes. */
	get resources(): readonly Resource[] {
		this.#update();
		return this.#resources;
	}

	/**
	 * The tool of this name. A name with an alias in front works in every catalog; one without it, portable or the server's
	 * own, in the catalog of one server. Undefined also for a tool that the client may not call.
	 */
	findTool(name: string): FoundTool | undefined {
		const { server } = this.#options;
		const only = server === undefined ? undefined : this.#reachable()[0];
		const named = this.#servers.find(aliasIn(name) ?? "");
		const found =
			(only && foundTool(only, findTool(only, "own", name) ?? findTool(only, "portable", name))) ??
			(named && this.#reaches(named) ? foundTool(named, findTool(named, "prefixed", name)) : undefined);
		return found && isUserOnly(found.tool) && !this.#allowsUserTools(found.server) ? undefined : found;
	}

	/** The server whose state this URI names; undefined if the client may not reach it, or it is not known. */
	findState(uri: string): Server | undefined {
		const server = this.#servers.find(aliasInStateUri(uri) ?? "");
		return server !== undefined && this.#reaches(server) ? server : undefined;
	}

	/**
	 * Tells of changes, from now on: of the lists, only if they are different from what was told before; of a server's
	 * state, as it happens.
	 *
	 * @returns a function that ends it
	 */
	onChange(listener: (change: CatalogChange) => void): () => void {
		if (this.#listeners.size === 0) {
			this.#told = { tools: this.tools, resources: this.resources };
			this.#servers.on("changed", this.#onChanged);
			this.#servers.on("stateChanged", this.#onStateChanged);
		}
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) {
				this.#servers.off("changed", this.#onChanged);
				this.#servers.off("stateChanged", this.#onStateChanged);
			}
		};
	}

	#update(): void {
		if (this.#version === this.#servers.version) {
			return;
		}
		this.#version = this.#servers.version;
		const { naming } = this.#options;
		const reachable = this.#reachable();
		const tools = reachable.flatMap((server) => listedTools(server, naming, this.#allowsUserTools(server)));
		this.#tools = sameItems(this.#tools, tools) ? this.#tools : tools;
		const resources = reachable.map(stateResource);
		this.#resources = sameItems(this.#resources, resources) ? this.#resources : resources;
	}

	#compare(): void {
		const before = this.#told;
		this.#told = { tools: this.tools, resources: this.resources };
		for (const kind of ["tools", "resources"] as const) {
			if (this.#told[kind] !== before[kind]) {
				this.#tell({ kind });
			}
		}
	}

	#tellState(server: Server, cause: Notification | undefined): void {
		if (this.#reaches(server)) {
			this.#tell({ kind: "state", server, cause });
		}
	}

	#tell(change: CatalogChange): void {
		for (const listener of this.#listeners) {
			listener(change);
		}
	}

	#reachable(): readonly Server[] {
		const { access, server } = this.#options;
		if (server === undefined && access.devices === undefined) {
			return this.#servers.all;
		}
		const candidates = server === undefined ? this.#servers.all : [this.#servers.find(server)];
		return candidates.filter((candidate) => candidate !== undefined && this.#reaches(candidate)) as Server[];
	}

	#reaches(candidate: Server): boolean {
		const { access, server } = this.#options;
		return (
			access.devices?.has(candidate.id) !== false && (server === undefined || this.#servers.find(server) === candidate)
		);
	}

	#allowsUserTools({ id }: Server): boolean {
		const { userTools } = this.#options.access;
		return typeof userTools === "boolean" ? userTools : userTools.has(id);
	}
}

function foundTool(server: Server, tool: ServerTool | undefined): FoundTool | undefined {
	return tool && { server, tool };
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
	return one.length === other.length && one.every((item, index) => item === other[index]);
}

/** Tells catalogs apart: clients with the same access, on the same path, share one. */
export function catalogKey({ principal, devices, userTools }: Access, server: string | undefined): string {
	const list = (ids: ReadonlySet<string>): string[] => [...ids].sort();
	const tools = typeof userTools === "boolean" ? userTools : list(userTools);
	return JSON.stringify([principal, server ?? null, devices ? list(devices) : null, tools]);
}
