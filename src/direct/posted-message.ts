import type { Hardware } from "../hardware/hardware.js";
import { ErrorCode, errorMessage, isRequestId, NO_WRAPPER, RpcError } from "../mcp_server/json-rpc.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { parseMessage } from "../mcp_server/parse-message.js";
import { REVISIONS, type Revision, unreadableId } from "../mcp_server/revision.js";
import type { ServedRequest } from "../net/http-server.js";
import { isObject } from "../text/is-object.js";
import type { Sendable } from "../text/pieced-text.js";
import type { McpEndpoint } from "./mcp-endpoint.js";
import type { ServedConnection } from "./served-connection.js";
import { checkHeaders, isStateless } from "./stateless-headers.js";

/** The header by which a client is known. */
export const CLIENT_HEADER = "mcp-session-id";

/**
 * The revision of a client that does not name one:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
const DEFAULT_REVISION: Revision = "2025-03-26";

/** Bytes of a page of a list. Many clients read only the first page, and the device sends it entry by entry, from flash. */
const MAX_PAGE_BYTES = 65_536;

/** Bytes of a message per allowed value, as in messages of a backend. */
const BYTES_PER_VALUE = 16;

/** The start of an error response, and the error's code. */
const errorStartPattern = (): RegExp =>
	/^\{"jsonrpc":"2\.0",(?:"id":(?:"(?:[^"\\]|\\.)*"|-?\d+|null),)?"error":\{"code":(-?\d+),"message":"(_meta\.)?/;

/** A posted message and its answer. It is its own session. */
export class PostedMessage {
	private readonly endpoint: McpEndpoint;
	private readonly connection: ServedConnection;
	private readonly headers: ServedRequest["headers"];
	private session: McpSession<Hardware> | undefined;
	private isStateless = false;
	private isAnswered = false;

	constructor(endpoint: McpEndpoint, connection: ServedConnection, headers: ServedRequest["headers"]) {
		this.endpoint = endpoint;
		this.connection = connection;
		this.headers = headers;
	}

	receive(text: string): void {
		const { headers, endpoint } = this;
		const { server, rules } = endpoint;
		let message: unknown;
		try {
			message = parseMessage(text, server, Math.floor(rules.maxBytes / BYTES_PER_VALUE));
		} catch (error) {
			this.reject(undefined, error as RpcError);
			return;
		}
		try {
			this.isStateless = "experimental" in server.capabilities && isStateless(message, headers);
			if (this.isStateless && (message as { id?: unknown }).id !== undefined) {
				checkHeaders(message as Readonly<Record<string, unknown>>, headers, server);
			}
			this.dispatch(message, this.isStateless ? DEFAULT_REVISION : this.readRevision(message));
		} catch (error) {
			this.reject(message, error as RpcError);
		}
	}

	/** Takes a response that was posted separately. */
	takeResponse(response: object): void {
		this.session?.receive(response);
	}

	/** Cancels the calls in progress. */
	close(): void {
		if (!this.isAnswered) {
			this.session?.close();
		}
	}

	private dispatch(message: unknown, revision: Revision): void {
		const { endpoint, connection } = this;
		const { clients, server } = endpoint;
		const client = clients.find(this.headers.get(CLIENT_HEADER));
		const session = server.open({
			owner: clients,
			pageBytes: MAX_PAGE_BYTES,
			send: (text, isAnswer) =>
				isAnswer
					? this.answer(this.statusOf(message, text), text, isInitialize(message))
					: connection.onEvent(String(text)),
		});
		// The client gets only notifications about its message.
		server.sessions.delete(session);
		session.revision = revision;
		if (client !== undefined) {
			session.client = client;
		}
		this.session = session;
		if (isResponse(message)) {
			endpoint.passResponse(message);
		} else {
			session.receive(message);
		}
		if (!this.isAnswered && !expectsAnswer(message)) {
			this.isAnswered = true;
			session.close();
			connection.onAccepted();
		}
	}

	/** @throws RpcError if it is unknown */
	private readRevision(message: unknown): Revision {
		const name = this.headers.get("mcp-protocol-version") ?? DEFAULT_REVISION;
		const revision = isInitialize(message) ? DEFAULT_REVISION : REVISIONS.find((each) => each === name);
		if (revision === undefined) {
			const expected = `MCP-Protocol-Version: expected one of ${REVISIONS.join(", ")}`;
			throw new RpcError(ErrorCode.invalidRequest, `Unsupported protocol version. ${expected}`);
		}
		return revision;
	}

	private reject(message: unknown, error: RpcError): void {
		const id = isObject(message) && isRequestId(message.id) ? message.id : unreadableId(DEFAULT_REVISION);
		this.answer(400, errorMessage(id, error, NO_WRAPPER), false);
	}

	/** A session whose call waits for the client's next request stays open: it ends with the call. */
	private answer(status: number, text: Sendable, isInitialized: boolean): void {
		const session = this.session;
		if (this.isAnswered) {
			return;
		}
		this.isAnswered = true;
		const client = isInitialized && session !== undefined ? this.endpoint.clients.add(session.client) : undefined;
		if (session?.calls.length === 0) {
			session.close();
		}
		this.connection.onAnswer(status, text, client);
	}

	/** Since 2026-07-28 protocol errors also have an HTTP status. */
	private statusOf(message: unknown, answer: Sendable): number {
		if (!this.isStateless) {
			return isReadable(message) ? 200 : 400;
		}
		const [, code, meta] = (typeof answer === "string" && errorStartPattern().exec(answer)) || [];
		switch (code) {
			case "-32601":
				return 404;
			case "-32600":
			case "-32021":
			case "-32022":
				return 400;
			case "-32602":
				return meta === undefined ? 200 : 400;
			default:
				return 200;
		}
	}
}

const isInitialize = (message: unknown): boolean => isObject(message) && message.method === "initialize";

const isResponse = (message: unknown): message is object =>
	isObject(message) && (message.method ?? null) === null && ("result" in message || "error" in message);

/** Whether it is a message of JSON-RPC, or a batch of them. */
const isReadable = (message: unknown): boolean =>
	Array.isArray(message) ? message.length > 0 : isObject(message) && typeof message.method === "string";

const expectsAnswer = (message: unknown): boolean =>
	Array.isArray(message)
		? message.some(expectsAnswer)
		: isObject(message) && typeof message.method === "string" && message.id !== undefined;
