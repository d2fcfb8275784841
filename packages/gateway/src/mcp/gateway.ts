import { LRUCache } from "lru-cache";
import { digest, type Server, ServerRegistry, type ServerRegistryOptions, type ServerTool } from "xs-mcp-manager/core";
import { Catalog, type OwnTool } from "../catalog/catalog.js";
import { APP_MIME_TYPE, APPS_EXTENSION } from "../catalog/device-panel.js";
import { type Listings, makeListings, makeServerLists, type Scope, type ServerLists } from "../catalog/server-lists.js";
import { DEFAULT_VIEW, type ToolView } from "../catalog/tool-view.js";
import type { Access } from "../config/access.js";
import { FirmwareUpdates } from "../devices/firmware/firmware-updates.js";
import type { Plugin, ToolHint } from "../plugin.js";
import { type Asking, makeAsking } from "./asking.js";
import { CATALOG_TOOLS, catalogToolsFor } from "./catalog-tools.js";
import { management } from "./plugin.js";
import { makeTasks, type Tasks } from "./tasks.js";

export interface GatewayOptions extends ServerRegistryOptions, Partial<ToolView> {
	/** Milliseconds for which a task is kept. Default an hour. */
	readonly taskTtl?: number;
	/** Milliseconds after which a call becomes a task. Default 2,000. */
	readonly taskPatience?: number;
	/** Hints for tools without any, by their own names; `*` matches anything. */
	readonly toolHints?: ReadonlyMap<string, ToolHint>;
	/**
	 * Signs what devices want back from clients: 32 bytes or more. Gateways of a cluster have the same one. Default: a random
	 * one for each process.
	 */
	readonly requestStateKey?: string;
	/** The page of a device's panel in applications that show pages (MCP Apps). Default: devices have none. */
	readonly panel?: string | undefined;
	/** Checks a client's call of a tool before it is made. Rejects with ServerError. Undefined: it is accepted. Default: accepts all. */
	readonly checkCall?: (server: Server, tool: ServerTool, args: object) => Promise<void> | undefined;
}

/** The capabilities for configured servers: the client that called is asked, if it can answer, and gets the pages of MCP Apps. */
const RELAYED = {
	elicitation: { form: { applyDefaults: true }, url: {} },
	sampling: {},
	roots: {},
	extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } },
};

const EVERY_RIGHT: Access = { principal: "local", userTools: true, microphone: true };

/** Catalogs that are kept, so that their lists need not be made again for each request. */
const MAX_CATALOGS = 1_000;

/** The servers on one side, and what each client sees of them on the other. */
export class Gateway {
	/** Every server that the gateway knows. */
	readonly servers: ServerRegistry;
	/** Asks clients what servers want to know. */
	readonly asking: Asking;
	/** Calls that continue after their clients got a task for them. */
	readonly tasks: Tasks;
	/** The progress of devices' updates. */
	readonly updates: FirmwareUpdates;
	/** Make the tools of the gateway itself that a client with an access gets on the path of all servers. */
	readonly tools = new Set<(access: Access) => readonly OwnTool[]>();
	readonly panel: string | undefined;
	readonly checkCall: NonNullable<GatewayOptions["checkCall"]>;
	/** Values of plugins, by their names. */
	protected readonly provided = new Map<string, unknown>();
	readonly #view: ToolView;
	readonly #listings: Listings;
	readonly #catalogs = new LRUCache<string, Catalog>({ max: MAX_CATALOGS });
	/** Lists by the rights of clients, and the only server. */
	readonly #lists = new LRUCache<string, ServerLists>({ max: MAX_CATALOGS });

	/** @throws RangeError if an alias is not valid */
	protected constructor(options: GatewayOptions, onWarning?: (message: string) => void) {
		this.servers = new ServerRegistry({ relayed: RELAYED, ...options }, onWarning);
		this.panel = options.panel;
		this.checkCall = options.checkCall ?? (() => undefined);
		this.asking = makeAsking(options.requestStateKey);
		this.tasks = makeTasks(options.taskTtl, options.taskPatience);
		this.updates = new FirmwareUpdates(this.servers);
		const { catalog, catalogLimit, pinnedTools, panels } = { ...DEFAULT_VIEW, ...options };
		this.#view = { catalog, catalogLimit, pinnedTools, panels };
		this.#listings = makeListings(options.toolHints);
	}

	/**
	 * Opens a gateway without plugins, with its stored devices. Rejects with a RangeError if an alias is not valid.
	 *
	 * @param onWarning called with warnings from the start, about damaged records for example
	 */
	static async open(options: GatewayOptions = {}, onWarning?: (message: string) => void): Promise<Gateway> {
		return new Gateway(options, onWarning);
	}

	/** Returns the value of a plugin; undefined without it. */
	find<Value>({ name }: Plugin<Value>): Value | undefined {
		return this.provided.get(name) as Value | undefined;
	}

	/**
	 * Settles when the tools of a configured server are known, if it is being connected, or is connected on demand. Never rejects.
	 *
	 * @returns why it is not connected; undefined if it is, or if no server of this name is configured
	 */
	async whenKnown(server: string): Promise<string | undefined> {
		const manager = this.find(management);
		await manager?.whenKnown(server).catch(() => {});
		const { status, lastError } = manager?.listConnections().find(({ id }) => id === server) ?? {};
		return status === "error" ? `${server} is not connected: ${lastError}` : undefined;
	}

	/**
	 * The catalog of a client with this access. Requests with the same token and view, on the same path, share a catalog.
	 *
	 * @param server alias or id: only this server. It may become known later.
	 * @param asked the client's own view, which overrides the gateway's options
	 */
	catalog(access: Access, server?: string, asked?: Partial<ToolView>): Catalog {
		const { catalog: mode, ...rest } = { ...this.#view, ...asked };
		// One server alone has nothing to group.
		const view = { catalog: mode === "groups" && server ? "full" : mode, ...rest } as const;
		const {
			principal,
			holder,
			devices,
			userTools,
			readOnly = false,
			isForeignPage = false,
			microphone = false,
		} = access;
		// A digest of the devices and tools that a client may use: lists of devices may be long.
		const list = (ids: Access["userTools"] | undefined) => (typeof ids === "object" ? [...ids].sort() : (ids ?? null));
		const rights = digest(JSON.stringify([list(devices), list(userTools), readOnly]));
		const ofView = [view.catalog, view.catalogLimit, view.pinnedTools, view.panels];
		const key = JSON.stringify([principal, holder, rights, server, isForeignPage, microphone, ...ofView]);
		let catalog = this.#catalogs.get(key);
		if (catalog === undefined) {
			const ownTools = server === undefined ? this.#ownTools(access) : [];
			const lists = this.#listsOf(JSON.stringify([rights, server]), { server, devices, userTools, readOnly });
			catalog = new Catalog(key, this.servers, lists, access, view, ownTools, catalogToolsFor(readOnly));
			this.#catalogs.set(key, catalog);
		}
		return catalog;
	}

	#ownTools(access: Access): readonly OwnTool[] {
		return [...this.tools].flatMap((make) => make(access));
	}

	#listsOf(key: string, scope: Scope): ServerLists {
		const isReserved = (name: string): boolean =>
			CATALOG_TOOLS.has(name) || this.#ownTools(EVERY_RIGHT).some(({ listed }) => listed.name === name);
		const { full } = catalogToolsFor(scope.readOnly);
		const lists = this.#lists.get(key) ?? makeServerLists(this.servers, scope, this.#listings, full, isReserved);
		this.#lists.set(key, lists);
		return lists;
	}

	/** Ends every session with a server, and settles when everything is on disk. */
	async close(): Promise<void> {
		this.tasks.close();
		await this.servers.close();
	}
}
