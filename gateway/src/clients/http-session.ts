import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import type { Server, ServerContext, Tool } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway.js";
import { createHostServer, type HostServerOptions } from "./client-server.js";

export interface HostSessionOptions {
	readonly gateway: Gateway;
	readonly host: HostServerOptions;
	/** Milliseconds without a request under way or a stream, after which the session ends. */
	readonly idleTimeout: number;
	readonly onOpened: (id: string) => void;
	readonly onClosed: () => void;
	readonly onError: (error: Error) => void;
}

/** A host's session over Streamable HTTP, as the revisions until 2025-11-25 have it: MCP "Session Management". */
export class HostSession {
	readonly #options: HostSessionOptions;
	readonly #transport: NodeStreamableHTTPServerTransport;
	readonly #server: Server;
	readonly #toolsChanged = (): void => void this.#announce(this.#announced);
	/** The list of whose change the host was last told. */
	#announced: readonly Tool[];
	/** The list that the host has. */
	#listed: readonly Tool[];
	#responses = 0;
	#streams = 0;
	#idleTimer: NodeJS.Timeout | undefined;
	#closed = false;

	private constructor(options: HostSessionOptions) {
		const { gateway, host, onOpened, onClosed, onError } = options;
		this.#options = options;
		this.#announced = host.scope.tools;
		this.#listed = host.scope.tools;
		const onListed = (tools: readonly Tool[]): void => {
			this.#listed = tools;
		};
		const onCall = (context: ServerContext): void => void this.#announceIn(context);
		this.#server = createHostServer(gateway, { ...host, onListed, onCall });
		this.#transport = new NodeStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			onsessioninitialized: onOpened,
		});
		this.#transport.onerror = onError;
		this.#transport.onclose = () => {
			this.#closed = true;
			clearTimeout(this.#idleTimer);
			gateway.off("toolsChanged", this.#toolsChanged);
			onClosed();
		};
		gateway.on("toolsChanged", this.#toolsChanged);
	}

	/** A session that begins with the `initialize` it is to serve next. */
	static async open(options: HostSessionOptions): Promise<HostSession> {
		const session = new HostSession(options);
		await session.#server.connect(session.#transport);
		return session;
	}

	/** Whether a host may use it: whoever has the same rights, on the same path. */
	isOf({ scope }: HostServerOptions): boolean {
		return this.#options.host.scope.key === scope.key;
	}

	/** Whether no request is under way and no stream open. */
	get idle(): boolean {
		return this.#responses === 0;
	}

	/** Serves one request. Resolves when it is answered, or its stream has ended. */
	async serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
		if (response.closed) {
			// Its host hung up already: nothing would ever tell that the answer is done with.
			return;
		}
		this.#begin(response, request.method === "GET");
		const served = this.#transport.handleRequest(request, response, body);
		if (request.method === "GET") {
			// The stream is open when the transport's promise jobs are done. What was sent over the one before may be lost.
			setImmediate(() => void this.#announce(this.#listed));
		}
		await served;
		if (this.#transport.sessionId === undefined) {
			await this.close();
		}
	}

	async close(): Promise<void> {
		await this.#server.close();
	}

	#begin(response: ServerResponse, isStream: boolean): void {
		clearTimeout(this.#idleTimer);
		this.#responses += 1;
		this.#streams += isStream ? 1 : 0;
		response.once("close", () => {
			this.#responses -= 1;
			if (isStream) {
				this.#streams -= 1;
				// What was sent over it last may be lost.
				this.#announced = this.#listed;
			}
			if (this.idle && !this.#closed) {
				this.#idleTimer = setTimeout(() => void this.close(), this.#options.idleTimeout);
			}
		});
	}

	/** Tells the host that its tools have changed, unless they are the same as before. Without a stream it cannot hear. */
	async #announce(before: readonly Tool[]): Promise<void> {
		const { host, onError } = this.#options;
		if (this.#streams > 0 && before !== host.scope.tools) {
			this.#announced = host.scope.tools;
			await this.#server.sendToolListChanged().catch(onError);
		}
	}

	/**
	 * Tells a host without a stream with the answer to its call: the SDK's clients do not open another one when the network
	 * was away for more than some seconds, and would never hear of anything again.
	 */
	async #announceIn({ mcpReq }: ServerContext): Promise<void> {
		const { host, onError } = this.#options;
		if (this.#streams === 0 && this.#announced !== host.scope.tools) {
			this.#announced = host.scope.tools;
			await mcpReq.notify({ method: "notifications/tools/list_changed" }).catch(onError);
		}
	}
}
