import { isObject, type Sendable } from "../../core/text/json.js";
import { type Client, readClient } from "../client.js";
import type { CallResult } from "../content.js";
import {
	type Answer,
	CALL_TOOL,
	ErrorCode,
	INITIALIZE,
	invalidParams,
	isStateless,
	LIST_TOOLS,
	type LongResult,
	META,
	notificationMessage,
	type Params,
	PING,
	quotable,
	type RequestId,
	RpcError,
	type Wrapper,
} from "../json-rpc.js";
import { McpSession, type SessionOptions } from "../mcp-session.js";
import type { FeatureServer } from "./feature-server.js";

const OWN_METHODS: readonly string[] = Object.freeze([CALL_TOOL, LIST_TOOLS, INITIALIZE, PING]);

/** A session of a server with features, which answer the methods that the session does not. */
export class FeatureSession<Context> extends McpSession<Context> {
	declare readonly server: FeatureServer<Context>;
	/** The owner of this session and of others that may resume its suspended requests: see {@link SessionOptions}. */
	readonly owner: object;

	/** The session of the connection: this one, unless it is a stateless request. */
	connection: FeatureSession<Context> = this;

	constructor(server: FeatureServer<Context>, options: SessionOptions) {
		super(server, options);
		this.owner = options.owner ?? this;
	}

	override close(): void {
		super.close();
		this.server.releaseSession(this);
	}

	protected override dispatch(
		id: RequestId,
		method: string,
		params: Params,
		wrapper: Wrapper,
		isBatched: boolean,
	): Answer {
		const isOwn = OWN_METHODS.includes(method);
		// The first checks save the call for most requests of older revisions.
		if (!isBatched && (!isOwn || params._meta !== undefined) && isStateless(method, params)) {
			return this.server.answerStateless(this, id, method, params);
		}
		if (!isOwn) {
			const call = this.startCall(id, params);
			const result = this.server.answerByFeature(method, params, call);
			if (result instanceof Promise) {
				return this.settle(undefined, call, result, wrapper);
			}
			if (result !== undefined) {
				return typeof result === "string" ? this.result(id, result, wrapper) : this.longResult(id, result, wrapper);
			}
		}
		return super.dispatch(id, method, params, wrapper, isBatched);
	}

	protected override answerWithoutMethod(message: Params, wrapper: Wrapper): string | undefined {
		const isResponse = (message.method ?? null) === null;
		const isTaken = isResponse && this.server.features.some((each) => each.takeResponse?.(this, message));
		return isTaken ? undefined : super.answerWithoutMethod(message, wrapper);
	}
}

/** The supported stateless revisions. Copied where they are sent: XS does not stringify preloaded arrays. */
export const STATELESS_REVISIONS: readonly string[] = Object.freeze(["2026-07-28"]);

/** The error code for a revision that the server does not speak. */
const UNSUPPORTED_VERSION = -32022;

/** Methods of older revisions that the stateless form lacks. */
const REMOVED: readonly string[] = Object.freeze(
	"initialize ping logging/setLevel resources/subscribe resources/unsubscribe".split(" "),
);

/** The start of a result, and of a cacheable one: lists, reads. */
const COMPLETE = '"resultType":"complete"';
const CACHEABLE = `${COMPLETE},"ttlMs":0,"cacheScope":"private"`;
const CACHEABLE_METHODS: readonly string[] = Object.freeze(
	"server/discover tools/list prompts/list resources/list resources/templates/list resources/read".split(" "),
);

/** Member of a notification's `_meta` that names its request, for a peer whose requests share a connection. */
const REQUEST_ID = "xs-mcp/requestId";

/**
 * A request of 2026-07-28, which carries the values that older revisions negotiate for a session:
 * https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
export class StatelessRequest<Context> extends FeatureSession<Context> {
	readonly method: string;
	/** Undefined while the request is suspended. */
	protected id: RequestId | undefined;

	constructor(connection: FeatureSession<Context>, client: Client, id: RequestId, method: string) {
		const { server, wrapper, maxPageBytes: pageBytes, maxBytes } = connection;
		super(server, { send() {}, wrapper, pageBytes, maxBytes });
		this.connection = connection;
		this.calls = connection.calls;
		this.revision = "2026-07-28";
		this.client = client;
		this.id = id;
		this.method = method;
	}

	override get pageBytes(): number {
		return super.pageBytes - CACHEABLE.length - 1;
	}

	/** Answers the request. */
	serve(id: RequestId, params: Params): Answer {
		if (REMOVED.includes(this.method)) {
			throw new RpcError(ErrorCode.methodNotFound, `Method not found: ${quotable(this.method)}`);
		}
		if (this.method === "server/discover") {
			const { name, version } = this.server;
			const _meta = { [META.serverInfo]: { name, version } };
			const discovered = { supportedVersions: [...STATELESS_REVISIONS], capabilities: this.offered, _meta };
			return this.result(id, JSON.stringify(discovered), this.wrapper);
		}
		// As in a batch, so that it is not taken for a stateless request again.
		return super.dispatch(id, this.method, params, this.wrapper, true);
	}

	/** The server's capabilities for a stateless client: nothing can be subscribed to. */
	protected get offered(): Readonly<Record<string, object>> {
		return Object.fromEntries(Object.keys(this.server.capabilities).map((name) => [name, {}]));
	}

	override notify(message: string): void {
		const { method, params } = JSON.parse(message);
		this.connection.notify(notificationMessage(method, { ...params, _meta: this.notificationMeta }));
	}

	/** The `_meta` of a notification. */
	protected get notificationMeta(): object {
		return { [REQUEST_ID]: this.id };
	}

	protected override result(id: RequestId, json: string, wrapper: Wrapper): string {
		return super.result(id, "{".concat(this.start, json === "{}" ? "" : ",", json.slice(1)), wrapper);
	}

	protected override callMessage(id: RequestId, result: CallResult, wrapper: Wrapper): string {
		const before = "{".concat(this.start, ",", result.before.slice(1));
		return super.callMessage(id, { ...result, before }, wrapper);
	}

	protected override longResult(id: RequestId, result: LongResult, wrapper: Wrapper): Sendable {
		const before = `{${this.start},${result.before.slice(1)}`;
		return super.longResult(id, { ...result, before, bytes: result.bytes + this.start.length + 1 }, wrapper);
	}

	/** The members that a result begins with. */
	private get start(): string {
		return CACHEABLE_METHODS.includes(this.method) ? CACHEABLE : COMPLETE;
	}
}

/**
 * Reads the client of a stateless request from its `_meta`.
 *
 * @throws RpcError if a required member is missing, or the revision is not supported
 */
export const readMeta = (meta: Params, log: (message: string) => void): Client => {
	const version = meta[META.version];
	if (typeof version !== "string") {
		throw invalidParams(`_meta.${META.version}: expected a revision of MCP`);
	}
	if (!STATELESS_REVISIONS.includes(version)) {
		const data = { supported: [...STATELESS_REVISIONS], requested: quotable(version) };
		throw new RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data);
	}
	const capabilities = meta[META.capabilities];
	if (!isObject(capabilities)) {
		throw invalidParams(`_meta.${META.capabilities}: expected an object`);
	}
	const logLevel = meta[META.logLevel];
	const client = readClient({ clientInfo: meta[META.clientInfo], capabilities }, log);
	return { ...client, logLevel: typeof logLevel === "string" ? logLevel : "none" };
};
