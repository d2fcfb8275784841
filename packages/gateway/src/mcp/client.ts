import {
	type CallToolRequest,
	type CallToolResult,
	type ClientCapabilities,
	type Implementation,
	type InitializeRequestParams,
	isInputRequiredResult,
	type JSONRPCErrorResponse,
	type JSONRPCMessage,
	ProtocolError,
	ProtocolErrorCode,
	SERVER_INFO_META_KEY,
	SUPPORTED_PROTOCOL_VERSIONS,
	specTypeSchemas,
} from "@modelcontextprotocol/server";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { isBelow, type LogLevel, type OrInput, REVISION_OF_STATELESS, type Server } from "xs-mcp-manager/core";
import * as z from "zod";
import type { AnnouncedList, Catalog, CatalogChange, FoundTool } from "../catalog/catalog.js";
import { showsPanels, withPanels } from "../catalog/device-panel.js";
import { callGroup, DEVICES } from "../catalog/groups.js";
import { isFirstPage, type PageRequest, pageOf } from "../catalog/pages.js";
import { aliasIn } from "../catalog/server-lists.js";
import { SERVER_INFO } from "../catalog/tool-hints.js";
import { type FirmwareUpdate, UPGRADE_TOOL } from "../devices/firmware/firmware-updates.js";
import { events } from "../events/plugin.js";
import { CATALOG_TOOLS, LIST_INSTRUCTIONS } from "./catalog-tools.js";
import {
	type Channel,
	ClientQuestions,
	ClientRequest,
	type Method,
	method,
	readParams,
	TASKS_EXTENSION,
	withForm,
} from "./client-request.js";
import { answerFailedCall, errorFor, failedCall, infoFor, resultFor, toolsFor, withUris } from "./contents.js";
import type { Gateway } from "./gateway.js";
import { callOwnTool } from "./own-tool.js";
import { EVENT_METHODS, EVENTS_EXTENSION } from "./serve-events.js";
import { LISTEN_METHODS } from "./serve-listen.js";
import {
	type ClientSubscriptions,
	makeSubscriptions,
	PROMPT_METHODS,
	RESOURCE_METHODS,
	SKILL_METHODS,
	SKILLS_EXTENSION,
} from "./serve-resources.js";
import { callAsTask, missingTasks, TASK_METHODS } from "./serve-tasks.js";

/** The log messages that a client gets in a session until it chooses a level. */
const DEFAULT_LOG_LEVEL: LogLevel = "info";

const INSTRUCTIONS = `These tools run on devices (microcontrollers with speakers, screens, sensors) and on other MCP servers.
Where there are several, a tool's name begins with its device's or server's name and two underscores.
If a device is offline, a call waits a moment for it, then fails and says when it was last seen.
If a device disconnects while a call is in progress, the call may have been carried out.
The resource device://NAME/state tells whether a device is online, and its state.`;

/** The result's `_meta` since 2026-07-28. The icons are in `server/discover`. */
const IDENTITY = { [SERVER_INFO_META_KEY]: { name: SERVER_INFO.name, version: SERVER_INFO.version } };

const NO_PARAMS = z.unknown();

/** Every method of MCP that clients may request, and those of extensions except events. */
const METHODS: Readonly<Record<string, Method>> = {
	initialize: method(
		specTypeSchemas.InitializeRequestParams,
		(params, { client }) => client.initialize(params),
		"session",
	),
	ping: method(NO_PARAMS, () => ({}), "session"),
	"logging/setLevel": method(
		specTypeSchemas.SetLevelRequestParams,
		({ level }, request) => {
			request.client.logLevel = level;
			return request.client.keepSettings(request);
		},
		"session",
	),
	"server/discover": method(NO_PARAMS, (_, { client }) => client.discover(), "stateless"),
	"tools/list": method(specTypeSchemas.PaginatedRequestParams, (params, request) =>
		request.client.listTools(params, request),
	),
	"tools/call": { serve: callTool },
	...RESOURCE_METHODS,
	...PROMPT_METHODS,
	...LISTEN_METHODS,
	...SKILL_METHODS,
	...TASK_METHODS,
};

/** Milliseconds for which a client may keep a list (2026-07-28). */
const LIST_TTL = 5_000;

/** Methods whose results a client may keep for some seconds (2026-07-28). */
const CACHED: ReadonlySet<string> = new Set(
	"tools/list resources/list resources/templates/list prompts/list server/discover".split(" "),
);

/**
 * One client of the gateway, or all clients of 2026-07-28 with the same rights: serves their requests for a catalog in every
 * revision, over whatever transport they come.
 */
export class Client {
	readonly gateway: Gateway;
	readonly catalog: Catalog;
	readonly isStateless: boolean;
	/** How long the client may keep lists. */
	readonly caching: { readonly ttlMs: number; readonly cacheScope: "public" | "private" };
	readonly questions = new ClientQuestions();
	/** The resources that the client follows in its session. */
	readonly subscriptions: ClientSubscriptions;
	/** Lists that have changed since the client began to read them, and whether it knows. */
	readonly changes = new Map<AnnouncedList, boolean>();
	/** The client's description of itself, in its session. */
	info: Implementation | undefined;
	capabilities: ClientCapabilities = {};
	/** The least severe log messages that the client gets in its session. */
	logLevel: LogLevel = DEFAULT_LOG_LEVEL;
	/** The revision that the client speaks; empty before it has begun its session. */
	revision: string;
	readonly #channel: Channel | undefined;
	/** Requests without an answer, by their ids. Empty if several clients share this one. */
	readonly requests = new Map<unknown, ClientRequest>();
	/** Called when the client has disconnected. */
	readonly #ends: (() => void)[] = [];

	/**
	 * @param channel sends the client messages that belong to none of its requests; undefined: they are dropped
	 * @param isStateless whether its requests are of 2026-07-28: each describes its client. Otherwise it starts a session
	 */
	constructor(gateway: Gateway, catalog: Catalog, channel?: Channel, isStateless = false) {
		this.gateway = gateway;
		this.catalog = catalog;
		this.isStateless = isStateless;
		this.revision = isStateless ? REVISION_OF_STATELESS : "";
		this.caching = { ttlMs: LIST_TTL, cacheScope: catalog.isPublic ? "public" : "private" };
		this.subscriptions = makeSubscriptions(this);
		this.#channel = channel;
	}

	/** Adds a function that is called once the client has disconnected. */
	readonly onClosed = (end: () => void): void => void this.#ends.push(end);

	/**
	 * Takes a message.
	 *
	 * @param channel gets the answer to a request, and what belongs to it. Default: the client's own
	 */
	receive(message: JSONRPCMessage, channel = this.#channel): void {
		if (!("method" in message)) {
			this.questions.answered(message);
		} else if ("id" in message) {
			const request = new ClientRequest(this, message, channel as Channel);
			this.requests.set(message.id, request);
			void this.serve(request);
		} else if (message.method === "notifications/cancelled") {
			const { requestId: id, reason } = message.params ?? {};
			const request = this.requests.get(id);
			if (request !== undefined) {
				this.requests.delete(id);
				request.cancel(typeof reason === "string" ? reason : undefined);
				request.channel.settle?.(request.id);
			}
		}
	}

	/** Resolves with the result of a request that has changed the settings of the session, once they are kept. */
	async keepSettings({ message }: ClientRequest): Promise<object> {
		await this.#channel?.keep?.(message);
		return {};
	}

	/** Serves a request. One that is cancelled gets no answer. Never rejects. */
	async serve(request: ClientRequest): Promise<void> {
		const { id, channel } = request;
		let answer: { result: Record<string, unknown> } | { error: JSONRPCErrorResponse["error"] };
		try {
			const { method: name } = request;
			const isOfEvents = Object.hasOwn(EVENT_METHODS, name) && this.gateway.find(events) !== undefined;
			const methods = isOfEvents ? EVENT_METHODS : METHODS;
			const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
			if (method === undefined || method.era === (this.isStateless ? "session" : "stateless")) {
				throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
			}
			const result = (await method.serve(request)) as Record<string, unknown>;
			answer = { result: this.isStateless ? this.#resultOf(name, result) : result };
		} catch (error) {
			answer = { error: errorFor(error, this.revision) };
		}
		if (!request.isCancelled) {
			try {
				channel.send({ jsonrpc: "2.0", id, ...answer }, request);
			} catch (error) {
				// It has no JSON. Its client must not wait for it.
				const message = `the answer cannot be sent: ${(error as Error).message}`;
				this.warn(message);
				channel.send({ jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } }, request);
			}
		}
		if (this.requests.get(id) === request) {
			this.requests.delete(id);
		}
	}

	/** Sends a notification that belongs to no request. */
	notify(method: string, params?: Readonly<Record<string, unknown>>): void {
		this.#channel?.send({ jsonrpc: "2.0", method, ...(params && { params }) });
	}

	/** Sends the notification of a change; of a resource, only if the client has subscribed to it. */
	announce(change: CatalogChange): void {
		if (this.revision === "") {
			return;
		}
		if (change.kind !== "updated") {
			this.notify(`notifications/${change.kind}/list_changed`);
		} else if (this.subscriptions.has(change.uri)) {
			this.notify("notifications/resources/updated", { uri: change.uri });
		}
	}

	/** Reports a problem of the client to the operator. */
	warn(problem: string): void {
		this.gateway.servers.emit("warning", `client ${this.catalog.access.principal}: ${problem}`);
	}

	/** Ends its requests and subscriptions: it has disconnected. */
	close(): void {
		for (const request of this.requests.values()) {
			request.cancel("the client has disconnected");
		}
		this.questions.close();
		this.subscriptions.close();
		for (const end of this.#ends) {
			end();
		}
	}

	/** Starts the client's session, and agrees on a revision. */
	initialize({ protocolVersion: asked, capabilities, clientInfo }: InitializeRequestParams): object {
		const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : SUPPORTED_PROTOCOL_VERSIONS[0];
		this.revision = `${protocolVersion}`;
		this.capabilities = withForm(capabilities);
		this.info = clientInfo;
		const serverInfo = infoFor(SERVER_INFO, this.revision);
		return { protocolVersion, capabilities: this.#ownCapabilities, serverInfo, instructions: this.#instructions };
	}

	/** The gateway's description of itself for clients without a session. */
	discover(): object {
		return {
			supportedVersions: [REVISION_OF_STATELESS],
			capabilities: this.#ownCapabilities,
			instructions: this.#instructions,
			_meta: { [SERVER_INFO_META_KEY]: SERVER_INFO },
		};
	}

	/** The schema of a tool's arguments; undefined for a tool that is unknown: the call says so. */
	toolInputSchema(name: string): Record<string, unknown> | undefined {
		const known = (this.catalog.findTool(name)?.tool ?? this.catalog.lists.findGroup(name)?.listed)?.inputSchema;
		return known ?? this.catalog.findListed(this.catalog.nameOf(name))?.inputSchema;
	}

	/** Answers with a page of a list. With its first page, the client has seen the list's changes. */
	page<Item>(
		list: AnnouncedList | "resourceTemplates",
		all: readonly Item[],
		keyOf: (item: Item) => string,
		params: PageRequest,
	): object {
		if (list !== "resourceTemplates" && isFirstPage(params.cursor)) {
			this.changes.delete(list);
		}
		const { items, ...next } = pageOf(all, keyOf, params);
		return { [list]: items, ...next };
	}

	listTools(params: PageRequest, request: ClientRequest): object {
		const { catalog } = this;
		const isAsked = catalog.view.panels === "on" || showsPanels(request.capabilities);
		const isLinked = this.gateway.panel !== undefined && isAsked;
		const tools = isLinked ? withPanels(catalog, catalog.tools) : catalog.tools;
		return this.page("tools", toolsFor(tools, this.revision), ({ name }) => name, params);
	}

	/**
	 * Calls a tool of a server, of the gateway, or of several devices at once. Rejects with ProtocolError.
	 *
	 * @param isNested whether a catalog tool makes the call
	 */
	async call(name: string, args: object, request: ClientRequest, isNested = false): Promise<OrInput<CallToolResult>> {
		const { catalog, revision } = this;
		const own = catalog.ownTools.find(({ listed }) => listed.name === name);
		const found = own === undefined ? (catalog.findTool(name) ?? catalog.lists.findGroup(name)) : undefined;
		const catalogTool = isNested ? undefined : CATALOG_TOOLS.get(name);
		// Catalog tools can be called whatever the list has: a client may still have the list from before.
		if (catalogTool !== undefined && (found === undefined || "members" in found || catalog.kind !== "full")) {
			const call = (named: string, toolArgs: object) => this.call(named, toolArgs, request, true);
			return resultFor(await catalogTool.run(args, { catalog, revision, call }), revision);
		}
		if (found === undefined) {
			return own === undefined
				? await this.#callUnknown(name, args, request)
				: resultFor(await callOwnTool(own, args, request), revision);
		}
		catalog.used.set(name, true);
		if ("members" in found) {
			const quiet = request.quiet();
			const callOne = (member: FoundTool, memberArgs: object) => this.#callServer(member, memberArgs, quiet);
			return resultFor(await callGroup(found, { ...args }, revision, callOne), revision);
		}
		try {
			return resultFor(await this.#callServer(found, args, request), revision);
		} catch (error) {
			return answerFailedCall(error, found.server, revision);
		}
	}

	/** Calls a tool that the catalog does not have: its configured server may still be connecting, or the name is inexact. */
	async #callUnknown(name: string, args: object, request: ClientRequest): Promise<OrInput<CallToolResult>> {
		const { catalog } = this;
		const alias = aliasIn(name);
		// A token for some devices does not reach configured servers, nor learn of their problems.
		const mayWait = alias !== undefined && catalog.access.devices === undefined;
		const problem = mayWait ? await this.gateway.whenKnown(alias) : undefined;
		if (catalog.findTool(name) !== undefined) {
			return await this.call(name, args, request, true);
		}
		if (problem !== undefined) {
			return resultFor(failedCall("server-offline", problem), this.revision);
		}
		const meant = catalog.nameOf(name);
		// Devices are named for a tool that several have.
		const matchesArgs = !(DEVICES in args) || catalog.lists.findGroup(meant) !== undefined;
		if (meant !== name && matchesArgs) {
			return await this.call(meant, args, request, true);
		}
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, catalog.unknownText(name));
	}

	/** Rejects as {@link Server.call} does. */
	async #callServer({ server, tool }: FoundTool, args: object, request: ClientRequest) {
		const { catalog, gateway } = this;
		if (tool.execution?.taskSupport === "required" && !request.declaresTasks) {
			throw missingTasks(tool.name);
		}
		const checking = gateway.checkCall(server, tool, args);
		if (checking !== undefined) {
			await checking;
		}
		// Devices cannot ask in their session.
		const isDirect = !server.configured && request.params.requestState === undefined;
		let result = isDirect ? await server.call(tool, args, request) : undefined;
		if (result === undefined || isInputRequiredResult(result)) {
			const params = { name: tool.name, arguments: args };
			result = await gateway.asking.request(request, server, { method: "tools/call", params, tool }, result);
		}
		if (isInputRequiredResult(result)) {
			return result;
		}
		if (tool.name === UPGRADE_TOOL && !result.isError) {
			gateway.updates.started(server, (update) => this.#logUpdate(server, update));
		}
		return withUris(result, (uri) => catalog.clientUri(server, uri));
	}

	/** Logs how the update of a device ended, to a client in a session. */
	#logUpdate({ alias }: Server, { step, version = "the new firmware", running }: FirmwareUpdate): void {
		const isBack = step === "rolled-back";
		const back = `${alias} rolled back to firmware ${running}: ${version} did not reach its backend`;
		this.log(isBack ? "warning" : "info", "firmware", isBack ? back : `${alias} runs firmware ${running}`);
	}

	/** Sends a log message that belongs to no request to a client in a session, unless it wants only more severe ones. */
	log(level: LogLevel, logger: string, data: string): void {
		if (!this.isStateless && !isBelow(level, this.logLevel)) {
			this.notify("notifications/message", { level, logger, data });
		}
	}

	get #instructions(): string {
		return [INSTRUCTIONS, ...LIST_INSTRUCTIONS[this.catalog.kind]].join("\n");
	}

	/** Some clients look for events in `extensions`, others in `events`. The tasks of earlier revisions are another feature. */
	get #ownCapabilities(): object {
		const hasEvents = this.gateway.find(events) !== undefined;
		return {
			tools: { listChanged: true },
			resources: { listChanged: true, subscribe: true },
			prompts: { listChanged: true },
			completions: {},
			logging: {},
			extensions: {
				...this.catalog.extensions.extensions,
				[SKILLS_EXTENSION]: {},
				...(this.isStateless && { [TASKS_EXTENSION]: {} }),
				...(hasEvents && { [EVENTS_EXTENSION]: {} }),
			},
			...(hasEvents && { events: {} }),
		};
	}

	/** Adds the members of 2026-07-28 to a result: its type, the gateway's name and cache hints. */
	#resultOf(method: string, result: object): Record<string, unknown> {
		const { resultType = "complete", _meta } = result as { readonly resultType?: string; readonly _meta?: object };
		const isCacheable = resultType === "complete" && (CACHED.has(method) || method === "resources/read");
		const hints = isCacheable && { ...this.caching, ...(method === "resources/read" && { ttlMs: 0 }) };
		return { ...hints, ...result, resultType, _meta: { ...IDENTITY, ..._meta } };
	}
}

/** Calls a tool, as a task for a client that knows tasks. Rejects with ProtocolError. */
function callTool(request: ClientRequest): Promise<OrInput<CallToolResult>> {
	const { client, params } = request;
	// The schema is slower, and only needed for its error message.
	const isValid = typeof params.name === "string" && isObject(params.arguments ?? {});
	const { name, arguments: args = {} } = isValid
		? (params as CallToolRequest["params"])
		: readParams(specTypeSchemas.CallToolRequestParams, params);
	if (!client.isStateless || !request.declaresTasks) {
		return client.call(name, args, request);
	}
	const { catalog } = client;
	const tool = (catalog.findTool(name) ?? catalog.lists.findGroup(name)?.members[0])?.tool;
	return callAsTask(request, tool, (each) => client.call(name, args, each));
}

/** Opens a client in a session, which is notified of changes until it disconnects. */
export function openClient(gateway: Gateway, catalog: Catalog, channel: Channel): Client {
	const client = new Client(gateway, catalog, channel);
	client.onClosed(catalog.onChange((change) => client.announce(change)));
	return client;
}
