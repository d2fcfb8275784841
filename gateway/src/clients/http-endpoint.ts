import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
	classifyInboundRequest,
	createMcpHandler,
	InMemoryServerEventBus,
	type McpHttpHandler,
} from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway.js";
import { sendJsonRpcError } from "../http/json-rpc-error.js";
import type { Access } from "./access.js";
import { createHostServer, type HostServerOptions } from "./client-server.js";
import { HostSessions, type HostSessionsOptions } from "./http-sessions.js";

export interface McpEndpointOptions extends HostSessionsOptions, Pick<HostServerOptions, "listTtl"> {}

/** What serves hosts of 2026-07-28 that see the same tools. */
interface StatelessHandler {
	readonly serve: ReturnType<typeof toNodeHandler>;
	readonly handler: McpHttpHandler;
	/** Whether a host listens for changes. */
	readonly hasListeners: () => boolean;
	readonly stop: () => void;
}

const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"]);

/** Scopes for which a handler is kept; more only while hosts listen to them. */
const MAX_HANDLERS = 1_000;

/**
 * Serves MCP over Streamable HTTP, to hosts of every revision: those until 2025-11-25 in sessions, those of 2026-07-28
 * request by request.
 */
export class McpEndpoint {
	readonly #gateway: Gateway;
	readonly #options: McpEndpointOptions;
	readonly #sessions: HostSessions;
	/** By the key of their scope. */
	readonly #stateless = new Map<string, StatelessHandler>();

	constructor(gateway: Gateway, options: McpEndpointOptions = {}) {
		this.#gateway = gateway;
		this.#options = options;
		this.#sessions = new HostSessions(gateway, options, (error) => this.#report(error));
	}

	/** Sessions that are open. */
	get sessions(): number {
		return this.#sessions.size;
	}

	/**
	 * Serves one HTTP request. Host, Origin, token and the body's size have been checked. Never rejects.
	 *
	 * @param device alias or id, of the path /mcp/DEVICE
	 * @param body the JSON that was read; undefined where there is none
	 */
	async handle(
		request: IncomingMessage,
		response: ServerResponse,
		access: Access,
		device: string | undefined,
		body: unknown,
	): Promise<void> {
		try {
			const scope = this.#gateway.scope(access, device);
			if (device !== undefined && !scope.hasDevice) {
				sendJsonRpcError(response, 404, -32_001, `No device ${JSON.stringify(device)} is known here`);
				return;
			}
			await this.#serve(request, response, { ...this.#options, principal: access.principal, scope }, body);
		} catch (error) {
			this.#report(error as Error);
			if (!response.headersSent) {
				sendJsonRpcError(response, 500, -32_603, "Internal server error");
			}
		}
	}

	/** Ends sessions, streams and requests under way. */
	async close(): Promise<void> {
		for (const { stop } of this.#stateless.values()) {
			stop();
		}
		await Promise.all([this.#sessions.close(), ...[...this.#stateless.values()].map(({ handler }) => handler.close())]);
	}

	async #serve(request: IncomingMessage, response: ServerResponse, host: HostServerOptions, body: unknown) {
		if (!METHODS.has(request.method ?? "")) {
			response.setHeader("Allow", [...METHODS].join(", "));
			sendJsonRpcError(response, 405, -32_000, "Method not allowed");
		} else if (request.method === "POST" && body === undefined) {
			sendJsonRpcError(response, 400, -32_700, "Parse error: the request has no JSON body");
		} else if (isSessionRequest(request, body)) {
			await this.#sessions.handle(request, response, host, body);
		} else {
			await this.#statelessHandler(host).serve(request as NodeIncomingMessageLike, response, body);
		}
	}

	#statelessHandler(host: HostServerOptions): StatelessHandler {
		let found = this.#stateless.get(host.scope.key);
		if (found === undefined) {
			found = this.#createHandler(host);
			this.#stateless.set(host.scope.key, found);
			this.#makeRoom();
		}
		return found;
	}

	#createHandler(host: HostServerOptions): StatelessHandler {
		const onerror = (error: Error): void => this.#report(error);
		const bus = new InMemoryServerEventBus(onerror);
		const factory = () => createHostServer(this.#gateway, host);
		const handler = createMcpHandler(factory, { legacy: "reject", bus, onerror });
		let announced = host.scope.tools;
		const announce = (): void => {
			if (bus.listenerCount > 0 && announced !== host.scope.tools) {
				announced = host.scope.tools;
				handler.notify.toolsChanged();
			}
		};
		this.#gateway.on("toolsChanged", announce);
		return {
			serve: toNodeHandler(handler, { onerror }),
			handler,
			hasListeners: () => bus.listenerCount > 0,
			stop: () => this.#gateway.off("toolsChanged", announce),
		};
	}

	#makeRoom(): void {
		for (const [key, { hasListeners, stop }] of this.#stateless) {
			if (this.#stateless.size <= MAX_HANDLERS) {
				return;
			}
			if (!hasListeners()) {
				stop();
				this.#stateless.delete(key);
			}
		}
	}

	#report(error: Error): void {
		this.#gateway.emit("warning", `a host's request: ${error.message}`);
	}
}

/** Whether a request is one of the revisions until 2025-11-25, which the SDK tells by what it carries. */
function isSessionRequest({ method = "", headers }: IncomingMessage, body: unknown): boolean {
	const inbound = {
		httpMethod: method,
		protocolVersionHeader: headers["mcp-protocol-version"],
		mcpMethodHeader: headers["mcp-method"],
		mcpNameHeader: headers["mcp-name"],
		body,
	};
	return classifyInboundRequest(inbound as Parameters<typeof classifyInboundRequest>[0]).kind === "legacy";
}
