import {
	type CallToolResult,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	Server as SdkServer,
	type ServerContext,
	type Transport,
} from "@modelcontextprotocol/server";
import {
	isBelow,
	type LogLevel,
	type OrInput,
	REVISION_OF_STATELESS,
	type RequestContext,
	type Server,
} from "xs-mcp-manager/core";
import type { Catalog, CatalogChange, FoundTool, ListName } from "../catalog/catalog.js";
import { showsPanels, withPanels } from "../catalog/device-panel.js";
import { DEVICES } from "../catalog/groups.js";
import { SERVER_INFO } from "../catalog/icons.js";
import { aliasIn } from "../catalog/listing.js";
import type { OwnTool } from "../catalog/own-tools.js";
import { isFirstPage, type PageRequest, pageOf } from "../catalog/pages.js";
import { stateUri } from "../catalog/state-resource.js";
import type { Access } from "../config/access.js";
import { type FirmwareUpdate, UPGRADE_TOOL } from "../devices/firmware/firmware-updates.js";
import { type ClientDescription, callOptions, DEFAULT_LOG_LEVEL, descriptionIn } from "./call-options.js";
import { type CatalogTool, findCatalogTool, LIST_INSTRUCTIONS } from "./catalog-tools.js";
import { resultFor, toolsFor, withUris } from "./contents.js";
import { answerFailedCall, failedCall } from "./failures.js";
import type { Gateway } from "./gateway.js";
import { callGroup } from "./group-calls.js";
import { inputRequiredFor, requestCaller } from "./own-tool-caller.js";
import type { SignedState } from "./request-states.js";
import { sendForRevision } from "./send-for-revision.js";
import { serveExtensions } from "./serve-extensions.js";
import { serveListen } from "./serve-listen.js";
import { serveCompletion, servePrompts } from "./serve-prompts.js";
import { ResourceService } from "./serve-resources.js";
import { callAsTask, declaresTasks, missingTasks } from "./serve-tasks.js";

export interface ClientServerOptions {
	/** Milliseconds for which a client may keep a list (2026-07-28, `ttlMs`). Default 5,000. */
	readonly listTtl?: number | undefined;
	/** Called when the client begins to read a list. */
	readonly onListed?: (list: ListName) => void;
	/** Called with every call of a tool, before it is made. */
	readonly onCall?: (context: ServerContext) => Promise<void>;
	/** The revision of clients that have no session. Default: the client begins a session, and they agree on one. */
	readonly revision?: string;
}

const INSTRUCTIONS = `These tools run on devices (microcontrollers with speakers, screens, sensors) and on other MCP servers.
Where there are several, a tool's name begins with its device's or server's name and two underscores.
If a device is offline, a call waits a moment for it, then fails and says when it was last seen.
If a device disconnects while a call is in progress, the call may have been carried out.
The resource device://NAME/state tells whether a device is online, and its state.`;

/**
 * The MCP server that one client sees, or one request of it: serves a catalog in every revision, over whatever transport
 * it is connected to. Lists come and go with the catalog, so they are served by handlers, not registered with the SDK.
 */
export class ClientServer extends SdkServer {
	readonly gateway: Gateway;
	readonly catalog: Catalog;
	/** How long the client may keep lists. */
	readonly caching: { readonly ttlMs: number; readonly cacheScope: "public" | "private" };
	readonly #options: ClientServerOptions;
	readonly #resources: ResourceService;
	/** Called when the client has disconnected. */
	readonly #ends: (() => void)[] = [];
	#logLevel: LogLevel | undefined;

	constructor(gateway: Gateway, catalog: Catalog, options: ClientServerOptions = {}) {
		const { listTtl = 5_000, revision } = options;
		const cacheScope = catalog.isPublic ? "public" : "private";
		const hint = { ttlMs: listTtl, cacheScope } as const;
		super(SERVER_INFO, {
			instructions: [INSTRUCTIONS, ...LIST_INSTRUCTIONS[catalog.kind]].join("\n"),
			requestState: { verify: gateway.requestStates.verify },
			...(revision !== undefined && { supportedProtocolVersions: [revision] }),
			cacheHints: {
				"tools/list": hint,
				"resources/list": hint,
				"resources/templates/list": hint,
				"prompts/list": hint,
				"resources/read": { ttlMs: 0, cacheScope },
				"server/discover": hint,
			},
		});
		this.gateway = gateway;
		this.catalog = catalog;
		this.caching = hint;
		this.#options = options;
		if (revision !== undefined) {
			this._negotiatedProtocolVersion = revision;
		}
		this.registerCapabilities({
			tools: { listChanged: true },
			resources: { listChanged: true, subscribe: true },
			prompts: { listChanged: true },
			completions: {},
			logging: {},
			...serveExtensions(this),
		});
		this.#serveTools();
		this.#resources = new ResourceService(this);
		servePrompts(this);
		serveCompletion(this);
		serveListen(this);
		this.setRequestHandler("logging/setLevel", ({ params }) => {
			this.#logLevel = params.level;
			return {};
		});
		this.onclose = () => {
			this.#resources.close();
			for (const end of this.#ends) {
				end();
			}
		};
	}

	/** The client's requests that have set something: what it has subscribed to, and its log level if it chose one. */
	get settings(): { readonly subscriptions: readonly string[]; readonly logLevel?: LogLevel } {
		const logLevel = this.#logLevel;
		return { subscriptions: this.#resources.subscriptions, ...(logLevel && { logLevel }) };
	}

	/** The client of a request. */
	describe(mcpReq: ServerContext["mcpReq"]): ClientDescription {
		if (this.revision >= REVISION_OF_STATELESS) {
			return descriptionIn(mcpReq);
		}
		const capabilities = this.getClientCapabilities() ?? {};
		const logLevel = this.#logLevel ?? DEFAULT_LOG_LEVEL;
		return { capabilities, name: this.getClientVersion()?.name, logLevel, session: this };
	}

	/** Adds a function that is called once the client has disconnected. */
	readonly onClosed = (end: () => void): void => void this.#ends.push(end);

	/** The revision that the client speaks. */
	get revision(): string {
		return this.getNegotiatedProtocolVersion() ?? "";
	}

	override async connect(transport: Transport): Promise<void> {
		sendForRevision(transport, () => this.revision);
		await super.connect(transport);
	}

	/** Makes a request in the client's place, when its session is restored. Rejects with the error of the request. */
	async replay(method: string, params: Record<string, unknown>): Promise<void> {
		await this._getRequestHandler(method)?.({ jsonrpc: "2.0", id: 0, method, params }, {} as ServerContext);
	}

	/** The schema of a tool's arguments; undefined for a tool that is unknown: the call says so. */
	toolInputSchema(name: string): Record<string, unknown> | undefined {
		const known = (this.catalog.findTool(name)?.tool ?? this.catalog.findGroup(name)?.listed)?.inputSchema;
		return known ?? this.catalog.findListed(this.catalog.nameOf(name))?.inputSchema;
	}

	/** Sends the notification of a change; of a state or a resource, only if the client has subscribed to it. */
	async announce(change: CatalogChange): Promise<void> {
		switch (change.kind) {
			case "tools":
				return await this.sendToolListChanged();
			case "resources":
				return await this.sendResourceListChanged();
			case "prompts":
				return await this.sendPromptListChanged();
			case "state":
				return await this.#announceUpdate(stateUri(change.server));
			case "updated":
				return await this.#announceUpdate(change.uri);
		}
	}

	/**
	 * A page of a list.
	 *
	 * @param list whose changes the client has seen with its first page
	 */
	page<Item>(
		items: readonly Item[],
		keyOf: (item: Item) => string,
		{ list, params }: { readonly list?: ListName; readonly params: PageRequest | undefined },
	): { readonly items: Item[]; readonly next: { readonly nextCursor?: string } } {
		if (list !== undefined && isFirstPage(params?.cursor)) {
			this.#options.onListed?.(list);
		}
		const { items: found, nextCursor } = pageOf(items, keyOf, params);
		return { items: found, next: nextCursor === undefined ? {} : { nextCursor } };
	}

	/**
	 * Forwards a client's request to a server. If the server needs input first, what it wants back is signed.
	 *
	 * @param target the name or URI that the client asks for
	 */
	async forward<Result>(
		context: ServerContext,
		server: Server,
		target: string,
		ask: (options: RequestContext) => Promise<OrInput<Result>>,
	): Promise<OrInput<Result>> {
		const { requestStates } = this.gateway;
		const { catalog } = this;
		const of = { catalog: catalog.key, method: context.mcpReq.method, server: server.id, target };
		const signed = context.mcpReq.requestState<SignedState>();
		const state = requestStates.open(signed, of);
		const { mcpReq } = context;
		const options = callOptions(mcpReq, this.describe(mcpReq), signed?.isHeld ? undefined : state);
		// Devices cannot ask in their session.
		if (this.revision < REVISION_OF_STATELESS || !server.configured) {
			const result = await ask(options);
			return isInputRequiredResult(result) ? await requestStates.sign(result, of) : result;
		}
		const held = signed?.isHeld ? signed.state : undefined;
		const { isHeld, result } = await requestStates.held.serve(options, ask, held);
		return isInputRequiredResult(result) ? await requestStates.sign(result, { ...of, isHeld }) : result;
	}

	#serveTools(): void {
		this.setRequestHandler("tools/list", ({ params }, context) => {
			const { catalog } = this;
			const isAsked = catalog.view.panels === "on" || showsPanels(this.describe(context.mcpReq).capabilities);
			const isLinked = catalog.panel !== undefined && isAsked;
			const tools = isLinked ? withPanels(catalog, catalog.tools) : catalog.tools;
			const { items, next } = this.page(toolsFor(tools, this.revision), ({ name }) => name, {
				list: "tools",
				params,
			});
			return { tools: items, ...next };
		});
		this.setRequestHandler("tools/call", async ({ params }, context) => {
			await this.#options.onCall?.(context);
			const { name, arguments: args = {} } = params;
			if (!declaresTasks(this, context.mcpReq)) {
				return await this.#callAny(name, args, context);
			}
			const tool = (this.catalog.findTool(name) ?? this.catalog.findGroup(name)?.members[0])?.tool;
			return await callAsTask(this, context, tool, (each) => this.#callAny(name, args, each));
		});
	}

	async #callAny(name: string, args: object, context: ServerContext) {
		const catalogTool = findCatalogTool(this.catalog, name);
		return await (catalogTool ? this.#callCatalogTool(catalogTool, args, context) : this.#call(name, args, context));
	}

	async #callCatalogTool(tool: CatalogTool, args: object, context: ServerContext) {
		const { catalog, revision } = this;
		const call = (name: string, toolArgs: object) => this.#call(name, toolArgs, context);
		const result = await tool.run(args, { catalog, revision, call });
		return isInputRequiredResult(result) ? result : resultFor(result, revision);
	}

	async #call(name: string, args: object, context: ServerContext): Promise<OrInput<CallToolResult>> {
		const { catalog } = this;
		const own = catalog.findOwnTool(name);
		if (own !== undefined) {
			return await this.#callOwn(own, args, context);
		}
		const known = catalog.findTool(name);
		const group = known === undefined ? catalog.findGroup(name) : undefined;
		if (group !== undefined) {
			catalog.noteUse(name);
			// The progress of several devices is not that of the call.
			const callOne = (member: FoundTool, memberArgs: object) =>
				this.#callServer(member, memberArgs, context, { onProgress: undefined });
			const result = await callGroup(group, { ...args }, { revision: this.revision, call: callOne });
			return resultFor(result, this.revision);
		}
		// The gateway may have just started, and not know the tools of a configured server yet.
		const alias = known === undefined ? aliasIn(name) : undefined;
		// A token for some devices does not reach configured servers, nor learn of their problems.
		const mayWait = alias !== undefined && catalog.access.devices === undefined;
		const problem = mayWait ? await this.gateway.whenKnown(alias) : undefined;
		const found = known ?? catalog.findTool(name);
		if (found === undefined && problem !== undefined) {
			return resultFor(failedCall("server-offline", problem), this.revision);
		}
		if (found === undefined) {
			const meant = catalog.nameOf(name);
			// Devices are named for a tool that several have.
			const isMeant = !(DEVICES in args) || catalog.findGroup(meant) !== undefined;
			if (meant !== name && isMeant) {
				return await this.#call(meant, args, context);
			}
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, catalog.unknownText(name));
		}
		catalog.noteUse(name);
		const { server, tool } = found;
		try {
			const result = await this.#callServer(found, args, context);
			return isInputRequiredResult(result)
				? result
				: this.projectCallToolResult(resultFor(result, this.revision), tool.outputSchema);
		} catch (error) {
			return answerFailedCall(error, server, this.revision);
		}
	}

	/** Rejects as {@link Server.call} does. */
	async #callServer({ server, tool }: FoundTool, args: object, context: ServerContext, more: RequestContext = {}) {
		const { catalog, gateway } = this;
		if (tool.execution?.taskSupport === "required" && !declaresTasks(this, context.mcpReq)) {
			throw missingTasks(tool.name);
		}
		await gateway.checkCall(server, tool, args);
		const result = await this.forward(context, server, tool.name, (options) =>
			server.call(tool, args, { ...options, ...more, principal: catalog.access.principal }),
		);
		if (isInputRequiredResult(result)) {
			return result;
		}
		if (tool.name === UPGRADE_TOOL && !result.isError) {
			gateway.updates.started(server, (update) => this.#tellUpdate(server, update));
		}
		return withUris(result, (uri) => catalog.clientUri(server, uri));
	}

	/** A client that has disconnected, or has no session, is not told. */
	#tellUpdate({ alias }: Server, { step, version = "the new firmware", running }: FirmwareUpdate): void {
		const isBack = step === "rolled-back";
		const level = isBack ? "warning" : "info";
		const back = `${alias} rolled back to firmware ${running}: ${version} did not reach its backend`;
		if (!isBelow(level, this.#logLevel ?? DEFAULT_LOG_LEVEL)) {
			const data = isBack ? back : `${alias} runs firmware ${running}`;
			this.sendLoggingMessage({ logger: "firmware", level, data }).catch(() => {});
		}
	}

	/** If the person must be asked first, since 2026-07-28 the result says so and the client repeats its call. */
	async #callOwn(own: OwnTool, args: object, context: ServerContext) {
		const { requestStates } = this.gateway;
		const of = { catalog: this.catalog.key, method: context.mcpReq.method, server: "", target: own.listed.name };
		const answered = requestStates.open(context.mcpReq.requestState<SignedState>(), of);
		const caller = requestCaller(this, context, answered);
		const result = await own.call(args, caller);
		return caller.question === undefined
			? resultFor(result, this.revision)
			: await requestStates.sign(inputRequiredFor(caller.question), of);
	}

	async #announceUpdate(uri: string): Promise<void> {
		if (this.#resources.follows(uri)) {
			await this.sendResourceUpdated({ uri });
		}
	}
}

/**
 * The MCP server for one client, which is told of changes as long as it is connected.
 *
 * @param server alias or id: only this server's tools. It may become known later.
 * @param onerror is told why a change could not be announced
 */
export function openClientServer(
	gateway: Gateway,
	{ access, server, onerror }: { access: Access; server?: string | undefined; onerror: (error: Error) => void },
): ClientServer {
	const catalog = gateway.catalog(access, server);
	const client = new ClientServer(gateway, catalog);
	client.onClosed(catalog.onChange((change) => void client.announce(change).catch(onerror)));
	return client;
}
