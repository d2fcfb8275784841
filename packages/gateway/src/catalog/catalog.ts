import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallToolResult, Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import {
	isSimilar,
	portable,
	relayedExtensions,
	type Server,
	type ServerRegistry,
	type ServerTool,
} from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import type { ListKind } from "../plugin.js";
import type { ToolGroup } from "./groups.js";
import { aliasIn, perVersion, type ServerLists } from "./server-lists.js";
import { ALIAS_SEPARATOR, type Lookup } from "./shared-list.js";
import { aliasInStateUri, clientUri, parseClientUri, stateUri } from "./state-resource.js";
import { chooseKind, isPinned, type ToolView } from "./tool-view.js";

/** The lists of a catalog. */
interface Lists {
	readonly tools: readonly Tool[];
	/** Undefined before the first list. */
	readonly kind: ListKind | undefined;
	readonly resources: readonly Resource[];
	readonly resourceTemplates: readonly ResourceTemplateType[];
	readonly prompts: readonly Prompt[];
}

/** The lists whose changes are announced to clients. Templates belong to the resources. */
export const ANNOUNCED_LISTS = ["tools", "resources", "prompts"] as const;

export type AnnouncedList = (typeof ANNOUNCED_LISTS)[number];

/** Changed list, or changed resource with the URI that clients know. A server's state is a resource. */
export type CatalogChange = { readonly kind: AnnouncedList } | { readonly kind: "updated"; readonly uri: string };

/** A tool that a client named, and the server that has it. */
export interface FoundTool {
	readonly server: Server;
	readonly tool: ServerTool;
}

const NO_LISTS: Lists = { tools: [], kind: undefined, resources: [], resourceTemplates: [], prompts: [] };

/** Names whose tools are remembered. */
const MAX_FOUND = 1_000;

/** Limit of the remembered names of called tools. */
const MAX_USED = 16;

/** Limits of the search for an unknown name: tools that are compared, and names in the error. */
const MAX_LOOKED_AT = 2_000;
const MAX_NAMES = 3;

/** Listeners notified in one turn of the event loop: each may write to its client. */
const NOTIFIED_PER_TURN = 50;

/** The tools, resources and prompts that one client may use, under names that do not collide. */
export class Catalog {
	/** The same for clients with the same access and view, on the same path. */
	readonly key: string;
	readonly access: Access;
	readonly view: ToolView;
	readonly #servers: ServerRegistry;
	/** The lists of the servers that the client may reach. */
	readonly lists: ServerLists;
	/** Tools of the gateway itself. */
	readonly ownTools: readonly OwnTool[];
	readonly #catalogTools: Readonly<Record<ListKind, readonly Tool[]>>;
	readonly #listeners = new Set<(change: CatalogChange) => void>();
	/** Undefined without listeners. */
	#stopFollowing: (() => void) | undefined;
	readonly #current: () => Lists;
	/** Tools by the names that clients have used, in one version of the registry. */
	readonly #found = new Map<string, FoundTool>();
	#foundIn = -1;
	/** Names of tools and groups that clients have called: they stay in the list when it becomes another kind. */
	readonly used = new LRUCache<string, true>({ max: MAX_USED });
	/** The tools that had been called when the list became another kind. */
	#kept: ReadonlySet<string> = new Set();

	/** @param catalogTools the tools with which a client finds and calls others, for each kind of list */
	constructor(
		key: string,
		servers: ServerRegistry,
		lists: ServerLists,
		access: Access,
		view: ToolView,
		ownTools: readonly OwnTool[],
		catalogTools: Readonly<Record<ListKind, readonly Tool[]>>,
	) {
		this.key = key;
		this.access = access;
		this.view = view;
		this.#servers = servers;
		this.lists = lists;
		this.ownTools = ownTools;
		this.#catalogTools = catalogTools;
		this.#current = perVersion(servers, (before = NO_LISTS) => this.#makeLists(before));
	}

	/** Alias or id: only this server, which need not be known yet. Undefined: all servers. */
	get server(): string | undefined {
		return this.lists.scope.server;
	}

	/**
	 * Reports changes from now on: of the lists, only if they differ from the last reported ones; of servers' states and
	 * subscribed resources at once. Without listeners nothing is followed.
	 *
	 * @returns a function that stops it
	 */
	onChange(listener: (change: CatalogChange) => void): () => void {
		this.#stopFollowing ??= this.#follow();
		this.#listeners.add(listener);
		return () => {
			if (this.#listeners.delete(listener) && this.#listeners.size === 0) {
				this.#stopFollowing?.();
				this.#stopFollowing = undefined;
			}
		};
	}

	/** Whether every client sees the same, so that shared caches may keep the list. */
	get isPublic(): boolean {
		const { principal, devices, userTools } = this.access;
		return principal === "local" && devices === undefined && userTools === false;
	}

	/** The extensions of servers that are online, as a capability. */
	get extensions(): ReturnType<typeof relayedExtensions> {
		const extended = [...this.#servers.extended].filter((server) => this.lists.reaches(server));
		return relayedExtensions(Object.assign({}, ...extended.map(({ connection }) => connection?.extensions.extensions)));
	}

	/** The servers that the client may reach. */
	get servers(): readonly Server[] {
		return this.lists.servers();
	}

	/**
	 * The list of tools: servers by alias, each in its own order; or groups, and the tools that are in no group; or the catalog
	 * tools. The last two also have pinned tools and tools that were used before. The same array until something in it changes.
	 */
	get tools(): readonly Tool[] {
		return this.#current().tools;
	}

	/** The kind of list at present. */
	get kind(): ListKind {
		return this.#current().kind ?? "full";
	}

	/** A tool as in a full list. */
	listed({ server, tool }: FoundTool): Tool {
		return this.lists.listings.listed(server, this.lists.naming, tool);
	}

	/**
	 * The tool of this name. A name with an alias in front works in every catalog; one without it, portable or the server's
	 * own, in the catalog of one server. Undefined also for a tool that the client may not call.
	 */
	findTool(name: string): FoundTool | undefined {
		if (this.#foundIn !== this.#servers.version || this.#found.size >= MAX_FOUND) {
			this.#foundIn = this.#servers.version;
			this.#found.clear();
		}
		const found = this.#found.get(name) ?? this.#lookUp(name);
		if (found !== undefined) {
			this.#found.set(name, found);
		}
		return found;
	}

	#lookUp(name: string): FoundTool | undefined {
		const { listings } = this.lists;
		const { server, item: tool } = this.#find(name, (each, naming) => listings.findTool(each, naming, name)) ?? {};
		return server && tool && listings.allows(tool, this.lists.allowed(server)) ? { server, tool } : undefined;
	}

	/** The group that a tool of this name is in. */
	findGroupOf(name: string): ToolGroup | undefined {
		const found = this.findTool(name);
		const isIt = ({ server, tool }: FoundTool) => server === found?.server && tool === found.tool;
		return found && [...this.lists.groups().values()].find(({ members }) => members.some(isIt));
	}

	/**
	 * Returns the tools that match a name which is not in this catalog: the server's own name for the tool, with or without the
	 * alias, and with or without the characters that clients replace. A single match is the tool that the client wants.
	 */
	#namesMeant(name: string): readonly string[] {
		const alias = aliasIn(name);
		const server = this.#withAlias(alias);
		const own = portable(server === undefined ? name : name.slice(`${alias}${ALIAS_SEPARATOR}`.length));
		const group = server === undefined ? this.lists.findGroup(own) : undefined;
		return group === undefined ? this.#names((tool) => portable(tool.name) === own, server) : [group.listed.name];
	}

	/** The names of some tools of a server, or of all. */
	#names(matches: (tool: ServerTool) => boolean, server: Server | undefined): readonly string[] {
		const names: string[] = [];
		let looked = 0;
		for (const member of this.lists.members()) {
			looked += 1;
			if (looked > MAX_LOOKED_AT || names.length >= MAX_NAMES) {
				break;
			}
			if ((server === undefined || member.server === server) && matches(member.tool)) {
				names.push(this.listed(member).name);
			}
		}
		return names;
	}

	/** The tool or group of this name as in a list; undefined also for a tool that the client may not call. */
	findListed(name: string): Tool | undefined {
		const found = this.findTool(name);
		return found ? this.listed(found) : this.lists.findGroup(name)?.listed;
	}

	/** The name of this catalog for the tool or group that a client certainly means; the same name if there is none. */
	nameOf(name: string): string {
		if (this.findListed(name) !== undefined) {
			return name;
		}
		const [meant = name, another] = this.#namesMeant(name);
		return another === undefined ? meant : name;
	}

	/** Error text for a name that is no tool's. */
	unknownText(name: string): string {
		const alias = aliasIn(name);
		const own = alias === undefined ? name : name.slice(`${alias}${ALIAS_SEPARATOR}`.length);
		const meant = this.#namesMeant(name);
		const names = meant.length > 0 ? meant : this.#names((tool) => isSimilar(tool.name, own), this.#withAlias(alias));
		return names.length > 0 ? `Unknown tool: ${name}. Did you mean ${names.join(", ")}?` : `Unknown tool: ${name}`;
	}

	/** The prompt of this name, which may have any of the forms that a tool's name may have. */
	findPrompt(name: string) {
		return this.#find(name, (server, naming) => this.lists.listings.findPrompt(server, naming, name));
	}

	/** The server that a resource's URI, or template, belongs to, and what the server calls it. It may not exist there. */
	findResource(uri: string) {
		const own = this.server !== undefined;
		const parsed = own ? undefined : parseClientUri(uri);
		const server = own ? this.lists.findOnly() : this.#withAlias(parsed?.alias);
		const { resources = [], resourceTemplates = [] } = server?.offers ?? {};
		// A server may have resources that it does not list.
		const mayHave = resources.length + resourceTemplates.length > 0 || server?.connection?.declares("resources");
		return server && mayHave ? { server, uri: parsed?.uri ?? uri } : undefined;
	}

	/** The URI by which clients of this catalog know a server's resource. */
	clientUri({ alias }: Server, uri: string): string {
		return this.lists.naming === "prefixed" ? clientUri(uri, alias) : uri;
	}

	/** The server whose state this URI names; undefined if the client may not reach it, or it is not known. */
	findState(uri: string): Server | undefined {
		return this.#withAlias(aliasInStateUri(uri));
	}

	#follow(): () => void {
		const servers = this.#servers;
		let known = this.#current();
		const onChanged = (): void => {
			const before = known;
			known = this.#current();
			const isOther = known.resourceTemplates !== before.resourceTemplates;
			for (const kind of ANNOUNCED_LISTS) {
				if (known[kind] !== before[kind] || (kind === "resources" && isOther)) {
					void this.#notify({ kind });
				}
			}
		};
		const onUpdated = (server: Server, uri: string): void => {
			if (this.lists.reaches(server)) {
				void this.#notify({ kind: "updated", uri: this.clientUri(server, uri) });
			}
		};
		const onState = (server: Server): void => {
			if (this.lists.reaches(server)) {
				void this.#notify({ kind: "updated", uri: stateUri(server) });
			}
		};
		servers.on("changed", onChanged).on("updated", onUpdated).on("state", onState);
		return () => {
			servers.off("changed", onChanged).off("updated", onUpdated).off("state", onState);
		};
	}

	/** Notifies the listeners in batches, one batch per turn of the event loop: there may be thousands. */
	async #notify(change: CatalogChange): Promise<void> {
		const all = [...this.#listeners];
		for (let at = 0; at < all.length; at += NOTIFIED_PER_TURN) {
			if (at > 0) {
				await nextTurn();
			}
			for (const listener of all.slice(at, at + NOTIFIED_PER_TURN)) {
				if (this.#listeners.has(listener)) {
					listener(change);
				}
			}
		}
	}

	#makeLists(before: Lists): Lists {
		const { lists, ownTools } = this;
		const kind = chooseKind(this.view, lists, before.kind);
		if (kind !== before.kind) {
			this.#kept = new Set(this.used.keys());
		}
		const listed = kind === "full" ? lists.fullList() : this.#someTools(kind);
		// Comparing each item of a full list would take long: clients share one array.
		const isShared = kind === "full" && ownTools.length === 0;
		const now = isShared ? listed : [...ownTools.map((own) => own.listed), ...listed];
		const { tools } = before;
		const isSame = !isShared && tools.length === now.length && tools.every((tool, index) => tool === now[index]);
		const [resources, resourceTemplates, prompts] = [lists.resources(), lists.resourceTemplates(), lists.prompts()];
		return { tools: isSame ? tools : now, kind, resources, resourceTemplates, prompts };
	}

	#someTools(kind: "groups" | "search"): readonly Tool[] {
		const catalogTools = this.#catalogTools[kind];
		const isKept = (tool: Tool): boolean => isPinned(this.view, tool) || this.#kept.has(tool.name);
		const isCatalogTool = ({ name }: Tool): boolean => catalogTools.some((each) => each.name === name);
		const mayKeep = this.view.pinnedTools.length + this.#kept.size > 0;
		if (kind === "search" && !mayKeep) {
			return catalogTools;
		}
		const groups = [...this.lists.groups().values()];
		const grouped = new Set(groups.flatMap(({ members }) => members.map(({ tool }) => tool)));
		const isAlone = ({ name }: Tool): boolean => !grouped.has(this.findTool(name)?.tool as ServerTool);
		const isShown = kind === "groups" ? (tool: Tool) => isKept(tool) || isAlone(tool) : isKept;
		const shownGroups = groups.map(({ listed }) => listed).filter((tool) => kind === "groups" || isKept(tool));
		return [
			...catalogTools,
			...shownGroups,
			...this.lists.tools().filter((tool) => isShown(tool) && !isCatalogTool(tool)),
		];
	}

	/** An item of a server's list, by any name that it has in this catalog. */
	#find<Item>(
		name: string,
		findIn: (server: Server, naming: Lookup) => Item | undefined,
	): { readonly server: Server; readonly item: Item } | undefined {
		const find = (server: Server | undefined, naming: Lookup) => {
			const item = server && findIn(server, naming);
			return server && item && { server, item };
		};
		const only = this.lists.findOnly();
		return find(only, "own") ?? find(only, "portable") ?? find(this.#withAlias(aliasIn(name)), "prefixed");
	}

	/**
	 * The server of that alias, if the client may reach it. Ids are not accepted here, because clients get URIs with
	 * aliases.
	 */
	#withAlias(alias: string | undefined): Server | undefined {
		const server = alias === undefined ? undefined : this.#servers.find(alias);
		return server?.alias === alias && server !== undefined && this.lists.reaches(server) ? server : undefined;
	}
}

/** A tool that the gateway itself offers. */
export interface OwnTool {
	readonly listed: Tool;
	readonly call: (args: object, caller: OwnToolCaller) => Promise<CallToolResult>;
}

/** The client that calls a tool of the gateway. */
export interface OwnToolCaller {
	readonly principal: string;
	readonly signal: AbortSignal;
	/** The application, as it names itself. */
	readonly clientName: string | undefined;
	/** Tells the client how far the call has come. A task shows the message. */
	progress(progress: number, total: number, message: string): void;
	/** Asks the user for confirmation. Rejects if the client cannot ask, or has to be asked by the result of its request. */
	ask(question: string): Promise<boolean>;
	/** Sends the client a log message, possibly after the call. */
	notify(text: string): void;
	/**
	 * Registers a function to call when the client has disconnected.
	 *
	 * @throws Error if there is no session
	 */
	onClosed(end: () => void): void;
}
