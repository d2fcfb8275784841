import { ErrorCode, errorMessage, isRequestId, NO_WRAPPER, RpcError } from "../mcp_server/json-rpc.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { parseMessage } from "../mcp_server/parse-message.js";
import { REVISIONS, type Revision, unreadableId } from "../mcp_server/revision.js";
import type { ServedRequest } from "../net/http-server.js";
import { isObject } from "../text/is-object.js";
import type { Sendable } from "../text/pieced-text.js";
import type { KnownClients } from "./known-clients.js";
import { checkHeaders, isStateless } from "./stateless-headers.js";

/** The header by which a client is known. */
export const CLIENT_HEADER = "mcp-session-id";

export interface PostedMessageOptions {
	readonly headers: ServedRequest["headers"];
	/** The largest message in bytes. */
	readonly maxBytes: number;
	readonly clients: KnownClients;
	/** No answer is due. */
	readonly onAccepted: () => void;
	/**
	 * The answer, with its HTTP status.
	 *
	 * @param client the client's id from now on
	 */
	readonly onAnswer: (status: number, text: Sendable, client?: string) => void;
	/** A notification or request of the call, before its answer. */
	readonly onEvent: (text: string) => void;
	/** A response to a request of another call. */
	readonly onResponse: (response: object) => void;
}

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
export class PostedMessage<Context> {
	private readonly server: McpServer<Context>;
	private readonly options: PostedMessageOptions;
	private session: McpSession<Context> | undefined;
	private isStateless = false;
	private isAnswered = false;

	constructor(server: McpServer<Context>, options: PostedMessageOptions) {
		this.server = server;
		this.options = options;
	}

	receive(text: string): void {
		let message: unknown;
		try {
			const { maxBytes } = this.options;
			message = parseMessage(text, this.server, Math.floor(maxBytes / BYTES_PER_VALUE));
		} catch (error) {
			this.reject(undefined, error as RpcError);
			return;
		}
		try {
			this.isStateless = "experimental" in this.server.capabilities && isStateless(message, this.options.headers);
			if (this.isStateless && (message as { id?: unknown }).id !== undefined) {
				checkHeaders(message as Readonly<Record<string, unknown>>, this.options.headers, this.server);
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
		const { clients, headers, onAccepted, onEvent, onResponse } = this.options;
		const client = clients.find(headers.get(CLIENT_HEADER));
		const session = this.server.open({
			owner: clients,
			pageBytes: MAX_PAGE_BYTES,
			send: (text, isAnswer) =>
				isAnswer ? this.answer(this.statusOf(message, text), text, isInitialize(message)) : onEvent(String(text)),
		});
		// The client gets only notifications about its message.
		this.server.sessions.delete(session);
		session.revision = revision;
		if (client !== undefined) {
			session.client = client;
		}
		this.session = session;
		if (isResponse(message)) {
			onResponse(message);
		} else {
			session.receive(message);
		}
		if (!this.isAnswered && !expectsAnswer(message)) {
			this.isAnswered = true;
			session.close();
			onAccepted();
		}
	}

	/** @throws RpcError if it is unknown */
	private readRevision(message: unknown): Revision {
		const name = this.options.headers.get("mcp-protocol-version") ?? DEFAULT_REVISION;
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
		const client = isInitialized && session !== undefined ? this.options.clients.add(session.client) : undefined;
		if (session?.calls.length === 0) {
			session.close();
		}
		this.options.onAnswer(status, text, client);
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
