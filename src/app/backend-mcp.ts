import type { Hardware } from "../hardware/hardware.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { mcpWrapper } from "../protocols/envelope.js";
import type { Protocol } from "../protocols/protocol.js";
import type { Sendable } from "../text/pieced-text.js";
import { boundedAnswer } from "./bounded-answer.js";

/**
 * MCP with the backend. It begins when the connection opens, before the hello, and outlives a session that ends without its
 * connection.
 */
export class BackendMcp {
	readonly #server: McpServer<Hardware>;
	readonly #protocol: () => Protocol;
	readonly #log: (message: string) => void;
	#session: McpSession<Hardware> | undefined;

	/** @param protocol asked when something is sent: it is made after this */
	constructor(server: McpServer<Hardware>, protocol: () => Protocol, log: (message: string) => void) {
		this.#server = server;
		this.#protocol = protocol;
		this.#log = log;
	}

	/** The connection is open. */
	open(): void {
		this.#session = this.#server.open({ send: (text) => this.#send(text), wrapper: mcpWrapper("") });
	}

	/** A session with this id has begun: messages carry it from now on. */
	begin(sessionId: string): void {
		if (this.#session !== undefined) {
			this.#session.wrapper = mcpWrapper(sessionId);
		}
	}

	receive(payload: unknown): void {
		this.#session?.receive(payload);
	}

	/** Answers a message that was not read, with the reason. */
	reject(...rejected: Parameters<McpSession<Hardware>["reject"]>): void {
		this.#session?.reject(...rejected);
	}

	close(): void {
		this.#session?.close();
		this.#session = undefined;
	}

	#send(text: Sendable): void {
		const protocol = this.#protocol();
		const answer = boundedAnswer(text, protocol.maxSentBytes, protocol.session?.id ?? "");
		if (answer === undefined) {
			this.#log(`MCP message dropped: longer than ${protocol.maxSentBytes} bytes`);
		} else {
			protocol.send(answer);
		}
	}
}
