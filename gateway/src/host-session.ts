import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import type { Server, Tool } from "@modelcontextprotocol/server";
import type { Gateway } from "./gateway.js";
import type { ToolScope } from "./tool-scope.js";

export interface HostSessionOptions {
	readonly gateway: Gateway;
	readonly scope: ToolScope;
	readonly server: Server;
	/** Milliseconds without a request under way or a stream, after which the session ends. */
	readonly idleTimeout: number;
	readonly onOpened: (id: string) => void;
	readonly onClosed: () => void;
	readonly onError: (error: Error) => void;
}

/** A host's session over Streamable HTTP, as the revisions until 2025-11-25 have it: MCP "Session Management". */
export class HostSession {
	readonly scope: ToolScope;
	readonly #options: HostSessionOptions;
	readonly #transport: NodeStreamableHTTPServerTransport;
	readonly #tellOfTools = (): void => void this.#announceTools();
	/** The list as the host was last told of it. */
	#announced: readonly Tool[];
	#responses = 0;
	#streams = 0;
	#idleTimer: NodeJS.Timeout | undefined;
	#closed = false;

	private constructor(options: HostSessionOptions) {
		const { gateway, scope, onOpened, onClosed, onError } = options;
		this.scope = scope;
		this.#options = options;
		this.#announced = scope.tools;
		this.#transport = new NodeStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			onsessioninitialized: onOpened,
		});
		this.#transport.onerror = onError;
		this.#transport.onclose = () => {
			this.#closed = true;
			clearTimeout(this.#idleTimer);
			gateway.off("toolsChanged", this.#tellOfTools);
			onClosed();
		};
		gateway.on("toolsChanged", this.#tellOfTools);
	}

	/** A session that begins with the `initialize` it is to serve next. */
	static async open(options: HostSessionOptions): Promise<HostSession> {
		const session = new HostSession(options);
		await options.server.connect(session.#transport);
		return session;
	}

	/** Whether no request is under way and no stream open. */
	get idle(): boolean {
		return this.#responses === 0;
	}

	/** Serves one request. Resolves when it is answered, or its stream has ended. */
	async serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
		this.#begin(response, request.method === "GET");
		const served = this.#transport.handleRequest(request, response, body);
		if (request.method === "GET") {
			// The stream is open once the transport's promise jobs are done. Its host was away: it may have missed a change.
			setImmediate(this.#tellOfTools);
		}
		await served;
		if (this.#transport.sessionId === undefined) {
			await this.close();
		}
	}

	async close(): Promise<void> {
		await this.#options.server.close();
	}

	#begin(response: ServerResponse, isStream: boolean): void {
		clearTimeout(this.#idleTimer);
		this.#responses += 1;
		this.#streams += isStream ? 1 : 0;
		response.once("close", () => {
			this.#responses -= 1;
			this.#streams -= isStream ? 1 : 0;
			if (this.idle && !this.#closed) {
				this.#idleTimer = setTimeout(() => void this.close(), this.#options.idleTimeout);
			}
		});
	}

	/** Without a stream nobody would hear: then the next one to open is told. */
	async #announceTools(): Promise<void> {
		const { scope, server, onError } = this.#options;
		if (this.#streams > 0 && this.#announced !== scope.tools) {
			this.#announced = scope.tools;
			await server.sendToolListChanged().catch(onError);
		}
	}
}
