import { ErrorCode, errorMessage, NO_WRAPPER, RpcError } from "../mcp_server/json-rpc.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { McpSession } from "../mcp_server/mcp-session.js";
import { REVISIONS, type Revision, unreadableId } from "../mcp_server/revision.js";
import { isObject } from "../text/is-object.js";
import { parseJson } from "../text/parse-json.js";
import type { Sendable } from "../text/pieced-text.js";
import type { ServedRequest } from "./http-server.js";

export interface PostedMessageOptions {
	readonly headers: ServedRequest["headers"];
	/** Bytes that the message may have. */
	readonly maxBytes: number;
	/** No answer is due. */
	readonly onAccepted: () => void;
	/** The answer, with the HTTP status for it. */
	readonly onAnswer: (status: number, text: Sendable) => void;
	/** A notification or request that belongs to the call and comes before the answer. */
	readonly onEvent: (text: string) => void;
	readonly log: (message: string) => void;
}

/** What a client speaks that does not say: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header */
const DEFAULT_REVISION: Revision = "2025-03-26";

/** Bytes of a message for each value that it may hold: as in messages of a backend. */
const BYTES_PER_VALUE = 16;

/** A message that was posted, and the answer to it. It is a session of its own: nothing is kept from one to the next. */
export class PostedMessage<Context> {
	readonly #server: McpServer<Context>;
	readonly #options: PostedMessageOptions;
	#session: McpSession<Context> | undefined;
	#isAnswered = false;

	constructor(server: McpServer<Context>, options: PostedMessageOptions) {
		this.#server = server;
		this.#options = options;
	}

	receive(text: string): void {
		const revision = this.#readRevision();
		if (revision === undefined) {
			const known = REVISIONS.join(", ");
			this.#fail(DEFAULT_REVISION, ErrorCode.invalidRequest, `Unsupported protocol version: expected ${known}`);
			return;
		}
		let message: unknown;
		try {
			message = this.#parse(text);
		} catch (error) {
			this.#fail(revision, ErrorCode.parseError, `Parse error: ${(error as Error).message}`);
			return;
		}
		this.#session = new McpSession(this.#server, {
			revision,
			send: (answer) => this.#answer(isReadable(message) ? 200 : 400, answer),
			notify: this.#options.onEvent,
		});
		this.#session.receive(message);
		if (!this.#isAnswered && !expectsAnswer(message)) {
			this.#isAnswered = true;
			this.#options.onAccepted();
		}
	}

	/** Cancels what runs. */
	close(): void {
		this.#session?.close();
	}

	/** @returns undefined for one that is not known */
	#readRevision(): Revision | undefined {
		const name = this.#options.headers.get("mcp-protocol-version") ?? DEFAULT_REVISION;
		return REVISIONS.find((revision) => revision === name);
	}

	/** Members that nobody reads are left out, as in messages of a backend. */
	#parse(text: string): unknown {
		const { names } = this.#server;
		const maxValues = Math.floor(this.#options.maxBytes / BYTES_PER_VALUE);
		const message = parseJson(text, maxValues, names.common);
		return names.isCommon(message) ? message : parseJson(text, maxValues, names.all);
	}

	#fail(revision: Revision, code: number, message: string): void {
		this.#answer(400, errorMessage(unreadableId(revision), new RpcError(code, message), NO_WRAPPER));
	}

	#answer(status: number, text: Sendable): void {
		if (!this.#isAnswered) {
			this.#isAnswered = true;
			this.#options.onAnswer(status, text);
		}
	}
}

/** Whether it is a message of JSON-RPC, or a batch of them. */
function isReadable(message: unknown): boolean {
	return Array.isArray(message) ? message.length > 0 : isObject(message) && ("method" in message || "id" in message);
}

function expectsAnswer(message: unknown): boolean {
	return Array.isArray(message)
		? message.some(expectsAnswer)
		: isObject(message) && typeof message.method === "string" && message.id !== undefined;
}
