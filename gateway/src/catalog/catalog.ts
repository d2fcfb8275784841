import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { ServerPrompt, ServerRegistry, ServerTool } from "xs-mcp-manager/core";
import { isUserOnly, type Notification, relayedExtensions, type Server } from "xs-mcp-manager/core";
import type { Access } from "./access.js";
import { groupTools, type ToolGroup } from "./groups.js";
import {
	aliasIn,
	findByName,
	listedPrompts,
	listedResources,
	listedTemplates,
	listedTools,
	type Naming,
	namedTools,
} from "./listing.js";
import type { OwnTool } from "./own-tools.js";
import { clientUri, parseClientUri } from "./resource-uris.js";
import { aliasInStateUri, STATE_TEMPLATE, stateResource } from "./state-resource.js";
import { ToolHints } from "./tool-hints.js";
import { isPinned, listsAll, type ToolView } from "./tool-view.js";

/** A tool that a client named, and the server that has it. */
export interface FoundTool {
	readonly server: Server;
	readonly tool: ServerTool;
}

/** A prompt that a client named, and the server that has it. */
export interface FoundPrompt {
	readonly server: Server;
	readonly prompt: ServerPrompt;
}

/** A resource that a client named, and the server that may have it. */
interface FoundResource {
	readonly server: Server;
	/** As the server knows it. */
	readonly uri: string;
}

/** The lists of a catalog. */
interface Lists {
	/** The tools that are listed. */
	readonly tools: readonly Tool[];
	readonly allTools: readonly Tool[];
	/** By name. Empty unless the view asks for them. */
	readonly groups: ReadonlyMap<string, ToolGroup>;
	readonly resources: readonly Resource[];
	readonly resourceTemplates: readonly ResourceTemplateType[];
	readonly prompts: readonly Prompt[];
}

/** A list whose changes are announced to clients. Templates belong to the resources. */
export type ListName = "tools" | "resources" | "prompts";

/** The state of a server has changed. */
export interface StateChange {
	readonly kind: "state";
	readonly server: Server;
	/** The server's own notification, if that is the cause. */
	readonly cause: Notification | undefined;
}

/** A resource has been updated, by the URI that clients know. */
interface ResourceUpdate {
	readonly kind: "updated";
	readonly uri: string;
}

/** A change in a catalog: a list, a server's state, or a resource. */
export type CatalogChange = { readonly kind: ListName } | StateChange | ResourceUpdate;

export interface CatalogOptions {
	/** Its key: see catalogKey. */
	readonly key: string;
	readonly access: Access;
	/** Alias or id: only this server, which need not be known yet. Undefined: all servers. */
	readonly server: string | undefined;
	readonly naming: Naming;
	readonly view: ToolView;
	/** Hints for tools without any. Default: those of the family's known tools. */
	readonly hints?: ToolHints;
	/** Tools of the gateway itself. */
	readonly ownTools?: readonly OwnTool[];
	/** The tools with which a client finds and calls others, if its list is not full. */
	readonly catalogTools: readonly Tool[];
	/** The page of a device's panel. Default: devices have none. */
	readonly panel?: string | undefined;
}

const FAMILY_HINTS = new ToolHints();

const NO_LISTS: Lists = {
	tools: [],
	allTools: [],
	groups: new Map(),
	resources: [],
	resourceTemplates: [],
	prompts: [],
};

/** What one client sees: tools, resources and prompts of the servers that it may reach, under names that do not collide. */
export class Catalog {
	readonly #servers: ServerRegistry;
	readonly #options: CatalogOptions;
	readonly #listeners = new Set<(change: CatalogChange) => void>();
	readonly #onChanged = (): void => this.#compare();
	readonly #onStateChanged = (server: Server, cause?: Notification): void => this.#tellState(server, cause);
	readonly #onUpdated = (server: Server, uri: string): void => this.#tellUpdate(server, uri);
	#lists = NO_LISTS;
	#version = -1;
	/** The lists that listeners know. */
	#told = this.#lists;

	constructor(servers: ServerRegistry, options: CatalogOptions) {
		this.#servers = servers;
		this.#options = options;
	}

	/** The same for clients with the same access, on the same path. */
	get key(): string {
		return this.#options.key;
	}

	/** Whether it has a server. */
	get hasServer(): boolean {
		return this.#reachable().length > 0;
	}

	/** Whether every client sees the same, so that shared caches may keep the list. */
	get isPublic(): boolean {
		const { principal, devices, userTools } = this.#options.access;
		return principal === "local" && devices === undefined && userTools === false;
	}

	/** The extensions of servers that are online, as a capability. */
	get extensions(): ReturnType<typeof relayedExtensions> {
		const extended = [...this.#servers.extended].filter((server) => this.#reaches(server));
		return relayedExtensions(Object.assign({}, ...extended.map(({ session }) => session?.extensions.extensions)));
	}

	/** Which tools it lists. */
	get view(): ToolView {
		return this.#options.view;
	}

	/** The page of a device's panel; undefined if devices have none. */
	get panel(): string | undefined {
		return this.#options.panel;
	}

	/** The servers that the client may reach. */
	get servers(): readonly Server[] {
		return this.#reachable();
	}

	/**
	 * The list of tools: servers by alias, each in its own order; or if there are too many, the catalog tools and the pinned
	 * ones; or groups, and the tools that are in no group. The same array until something in it changes.
	 */
	get tools(): readonly Tool[] {
		return this.#update().tools;
	}

	/** Every tool that the client may call, as a full list has them. The same array until something in it changes. */
	get allTools(): readonly Tool[] {
		return this.#update().allTools;
	}

	/** Whether every tool is listed. */
	get listsAll(): boolean {
		return listsAll(this.view, this.allTools.length);
	}

	/** The list of resources: of each server its state, and its own. The same array until something in it changes. */
	get resources(): readonly Resource[] {
		return this.#update().resources;
	}

	/** The list of templates of resources. The same array until something in it changes. */
	get resourceTemplates(): readonly ResourceTemplateType[] {
		return this.#update().resourceTemplates;
	}

	/** The list of prompts. The same array until something in it changes. */
	get prompts(): readonly Prompt[] {
		return this.#update().prompts;
	}

	/**
	 * The tool of this name. A name with an alias in front works in every catalog; one without it, portable or the server's
	 * own, in the catalog of one server. Undefined also for a tool that the client may not call.
	 */
	findTool(name: string): FoundTool | undefined {
		const { server, item: tool } = this.#find(name, ({ tools }) => tools) ?? {};
		if (server === undefined || tool === undefined || !this.#allows(server, tool)) {
			return undefined;
		}
		return { server, tool };
	}

	/** The group of this name, if the view has groups. */
	findGroup(name: string): ToolGroup | undefined {
		return this.#update().groups.get(name);
	}

	/** The tool of this name as a full list has it; undefined also for a tool that the client may not call. */
	findListed(name: string): Tool | undefined {
		const { server, tool } = this.findTool(name) ?? {};
		return server && tool && this.#hints.added(tool.name, tool as Tool);
	}

	/** The tool of the gateway itself that has this name. */
	findOwnTool(name: string): OwnTool | undefined {
		return this.#options.ownTools?.find(({ listed }) => listed.name === name);
	}

	/** The prompt of this name, which may have any of the forms that a tool's name may have. */
	findPrompt(name: string): FoundPrompt | undefined {
		const found = this.#find(name, ({ offers }) => offers.prompts);
		return found && { server: found.server, prompt: found.item };
	}

	/** The server that a resource's URI, or template, belongs to, and what the server calls it. It may not exist there. */
	findResource(uri: string): FoundResource | undefined {
		const own = this.#options.server !== undefined;
		const parsed = own ? undefined : parseClientUri(uri);
		const server = own ? this.#only() : this.#withAlias(parsed?.alias);
		return server && mayHaveResources(server) ? { server, uri: parsed?.uri ?? uri } : undefined;
	}

	/** The URI by which clients of this catalog know a server's resource. */
	clientUri({ alias }: Server, uri: string): string {
		return this.#options.naming === "prefixed" ? clientUri(uri, alias) : uri;
	}

	/** The server whose state this URI names; undefined if the client may not reach it, or it is not known. */
	findState(uri: string): Server | undefined {
		return this.#withAlias(aliasInStateUri(uri));
	}

	/**
	 * Reports changes from now on: of the lists, only if they differ from the last reported ones; of servers' states and
	 * subscribed resources at once.
	 *
	 * @returns a function that stops it
	 */
	onChange(listener: (change: CatalogChange) => void): () => void {
		if (this.#listeners.size === 0) {
			this.#told = this.#update();
			this.#servers.on("changed", this.#onChanged);
			this.#servers.on("stateChanged", this.#onStateChanged);
			this.#servers.on("updated", this.#onUpdated);
		}
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) {
				this.#servers.off("changed", this.#onChanged);
				this.#servers.off("stateChanged", this.#onStateChanged);
				this.#servers.off("updated", this.#onUpdated);
			}
		};
	}

	#update(): Lists {
		if (this.#version !== this.#servers.version) {
			this.#version = this.#servers.version;
			this.#lists = keepSame(this.#lists, this.#makeLists());
		}
		return this.#lists;
	}

	#makeLists(): Lists {
		const { naming, ownTools = [] } = this.#options;
		const reachable = this.#reachable();
		const allTools = reachable.flatMap((server) => listedTools(server, this.#listing(naming)));
		const groups = this.view.catalog === "groups" ? this.#groupsOf(reachable, allTools) : NO_LISTS.groups;
		return {
			tools: [...ownTools.map(({ listed }) => listed), ...this.#shownOf(allTools, groups)],
			allTools,
			groups,
			resources: reachable.flatMap((server) => {
				const state = stateResource(server);
				return [state, ...listedResources(server, naming).filter(({ uri }) => uri !== state.uri)];
			}),
			resourceTemplates: [STATE_TEMPLATE, ...reachable.flatMap((server) => listedTemplates(server, naming))],
			prompts: reachable.flatMap((server) => listedPrompts(server, naming)),
		};
	}

	#groupsOf(reachable: readonly Server[], allTools: readonly Tool[]): ReadonlyMap<string, ToolGroup> {
		const { ownTools = [], catalogTools } = this.#options;
		const listed = [...ownTools.map((own) => own.listed), ...catalogTools, ...allTools];
		const taken = new Set(listed.map(({ name }) => name));
		const members = reachable.flatMap((server) =>
			namedTools(server, this.#listing("portable")).map((named) => ({
				server,
				tool: named.item,
				listed: named.listed,
			})),
		);
		return groupTools(members, (name) => taken.has(name), this.#lists.groups);
	}

	#shownOf(allTools: readonly Tool[], groups: ReadonlyMap<string, ToolGroup>): readonly Tool[] {
		if (listsAll(this.view, allTools.length)) {
			return allTools;
		}
		const { catalogTools } = this.#options;
		const grouped = new Set([...groups.values()].flatMap(({ members }) => members.map(({ tool }) => tool)));
		const isShown = (tool: Tool): boolean =>
			isPinned(this.view, tool) ||
			(this.view.catalog === "groups" && !grouped.has(this.findTool(tool.name)?.tool as ServerTool));
		const isCatalogTool = ({ name }: Tool): boolean => catalogTools.some((each) => each.name === name);
		return [
			...catalogTools,
			...[...groups.values()].map(({ listed }) => listed),
			...allTools.filter((tool) => isShown(tool) && !isCatalogTool(tool)),
		];
	}

	#compare(): void {
		const before = this.#told;
		this.#told = this.#update();
		const { tools, resources, resourceTemplates, prompts } = this.#told;
		if (tools !== before.tools) {
			this.#tell({ kind: "tools" });
		}
		if (resources !== before.resources || resourceTemplates !== before.resourceTemplates) {
			this.#tell({ kind: "resources" });
		}
		if (prompts !== before.prompts) {
			this.#tell({ kind: "prompts" });
		}
	}

	#tellState(server: Server, cause: Notification | undefined): void {
		if (this.#reaches(server)) {
			this.#tell({ kind: "state", server, cause });
		}
	}

	#tellUpdate(server: Server, uri: string): void {
		if (this.#reaches(server)) {
			this.#tell({ kind: "updated", uri: this.clientUri(server, uri) });
		}
	}

	#tell(change: CatalogChange): void {
		for (const listener of this.#listeners) {
			listener(change);
		}
	}

	/** An item of a server's list, by any name that it has in this catalog. */
	#find<Item extends { readonly name: string }>(
		name: string,
		itemsOf: (server: Server) => readonly Item[],
	): { readonly server: Server; readonly item: Item } | undefined {
		const find = (server: Server | undefined, naming: Naming) => {
			const item = server && findByName(itemsOf(server), server, naming, name);
			return server && item && { server, item };
		};
		const only = this.#only();
		return find(only, "own") ?? find(only, "portable") ?? find(this.#withAlias(aliasIn(name)), "prefixed");
	}

	/**
	 * The server of that alias, if the client may reach it. Ids are not accepted here, because clients get URIs with
	 * aliases.
	 */
	#withAlias(alias: string | undefined): Server | undefined {
		const server = alias === undefined ? undefined : this.#servers.find(alias);
		return server?.alias === alias && server !== undefined && this.#reaches(server) ? server : undefined;
	}

	/** The server of a catalog of one server, if it is known. */
	#only(): Server | undefined {
		return this.#options.server === undefined ? undefined : this.#reachable()[0];
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

	/** Whether the client may see and call a tool. User-only tools, and tools without a read-only hint, need more rights. */
	#allows({ id }: Server, tool: ServerTool): boolean {
		const { userTools, readOnly = false } = this.#options.access;
		const allowsUserTools = typeof userTools === "boolean" ? userTools : userTools.has(id);
		return (
			(allowsUserTools || !isUserOnly(tool)) &&
			(!readOnly || this.#hints.added(tool.name, tool).annotations?.readOnlyHint === true)
		);
	}

	#listing(naming: Naming) {
		return { naming, hints: this.#hints, allows: (server: Server, tool: ServerTool) => this.#allows(server, tool) };
	}

	get #hints(): ToolHints {
		return this.#options.hints ?? FAMILY_HINTS;
	}
}

/** A server may have resources that it does not list. */
function mayHaveResources({ session, offers }: Server): boolean {
	return offers.resources.length + offers.resourceTemplates.length > 0 || session?.declares("resources") === true;
}

/** The lists of `next`; a list with the same items as before is the old array. */
function keepSame(before: Lists, next: Lists): Lists {
	const keep = <Item>(old: readonly Item[], items: readonly Item[]) => (sameItems(old, items) ? old : items);
	return {
		tools: keep(before.tools, next.tools),
		allTools: keep(before.allTools, next.allTools),
		groups: next.groups,
		resources: keep(before.resources, next.resources),
		resourceTemplates: keep(before.resourceTemplates, next.resourceTemplates),
		prompts: keep(before.prompts, next.prompts),
	};
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
	return one.length === other.length && one.every((item, index) => item === other[index]);
}
