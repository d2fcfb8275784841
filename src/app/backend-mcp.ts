import type { Hardware } from "../hardware/hardware.js";
import { ErrorCode, errorMessage, isRequestId, RpcError } from "../mcp_server/json-rpc.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import type { SessionOptions } from "../mcp_server/session-options.js";
import { decodeStart, mcpWrapper } from "../protocols/envelope.js";
import { isObject } from "../text/is-object.js";
import type { Sendable } from "../text/pieced-text.js";

/** Characters of a message that are searched for a request's id. */
const START_LENGTH = 2_048;

/**
 * MCP with the backend. It begins when the connection opens, before the hello, and outlives a session that ends without its
 * connection.
 */
export class BackendMcp {
	/** Takes the backend's messages while the connection is open. */
	session: McpSession<Hardware> | undefined;
	private readonly server: McpServer<Hardware>;
	private sessionId = "";

	constructor(server: McpServer<Hardware>) {
		this.server = server;
	}

	/** The connection is open. */
	open(send: SessionOptions["send"]): void {
		this.sessionId = "";
		this.session = this.server.open({ send, wrapper: mcpWrapper("") });
	}

	/** A session with this id has begun: messages carry it from now on. */
	sessionBegan(sessionId: string): void {
		this.sessionId = sessionId;
		if (this.session !== undefined) {
			this.session.wrapper = mcpWrapper(sessionId);
		}
	}

	/**
	 * The replacement for a message that is longer than the backend takes: an error with the id of the request that it
	 * answers.
	 *
	 * @returns undefined if it answers no request
	 */
	shorten(text: Sendable, bytes: number, maxBytes: number): string | undefined {
		const start = typeof text === "string" ? text : String.fromArrayBuffer(text.take());
		const payload = decodeStart(start.slice(0, START_LENGTH))?.payload;
		const id = isObject(payload) ? payload.id : undefined;
		if (!isRequestId(id)) {
			return undefined;
		}
		const reason = `response of ${bytes} bytes (limit of this backend: ${maxBytes})`;
		const error = new RpcError(ErrorCode.internalError, `Internal error: ${reason}`);
		return errorMessage(id, error, mcpWrapper(this.sessionId));
	}

	sessionEnded(): void {
		this.session?.close();
		this.session = undefined;
	}
}
