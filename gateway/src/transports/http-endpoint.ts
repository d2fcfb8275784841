import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import {
	classifyInboundRequest,
	type InboundClassificationOutcome,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { isUserOnly, readClientMessage, SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import type { Catalog } from "../catalog/catalog.js";
import { type ToolView, viewInUrl } from "../catalog/tool-view.js";
import type { Access } from "../config/access.js";
import { scopesOf } from "../config/scopes.js";
import { isObject } from "../firmware.js";
import { HttpError, sendJsonRpcError } from "../http/http-error.js";
import type { ClientServerOptions } from "../mcp/client-server.js";
import type { Gateway } from "../mcp/gateway.js";
import type { ConnectedClient, SessionClient } from "./http-session.js";
import { HttpSessions, type HttpSessionsOptions } from "./http-sessions.js";
import { StatelessClients } from "./stateless-clients.js";

export interface HttpEndpointOptions extends HttpSessionsOptions, Pick<ClientServerOptions, "listTtl"> {}

/** A request of a client that may use the gateway. */
interface AdmittedRequest {
	readonly access: Access;
	/** Alias or id, from the path /mcp/DEVICE. */
	readonly server: string | undefined;
	/** The JSON that was read; undefined if the request has no body. */
	readonly body: unknown;
	/** Makes the rejection of a call that needs other scopes; undefined if the client has no access token. */
	readonly lacksScope?: ((scope: string) => HttpError) | undefined;
}

/** Milliseconds for the answers to calls to be sent when the endpoint closes. */
const ANSWER_TIME = 1_000;

/**
 * Serves MCP over Streamable HTTP, to clients of every revision: up to 2025-11-25 in sessions, since 2026-07-28 request by
 * request.
 */
export class HttpEndpoint {
	readonly #gateway: Gateway;
	readonly #listTtl: Pick<HttpEndpointOptions, "listTtl">;
	readonly #sessions: HttpSessions;
	readonly #stateless: StatelessClients;
	/** Responses to calls of tools that are not complete. */
	readonly #calls = new Set<ServerResponse>();
	#stopping = false;

	constructor(gateway: Gateway, options: HttpEndpointOptions = {}) {
		this.#gateway = gateway;
		// Callers hand in their whole configuration, which is not to be copied for each request.
		const { listTtl } = options;
		this.#listTtl = listTtl === undefined ? {} : { listTtl };
		const onError = (error: Error): void => this.#report(error);
		this.#sessions = new HttpSessions(options, onError);
		this.#stateless = new StatelessClients(onError);
	}

	/** Sessions that are open. */
	get sessions(): number {
		return this.#sessions.size;
	}

	/** Clients that are in a session. Those of 2026-07-28 have none. */
	get clients(): readonly ConnectedClient[] {
		return this.#sessions.clients;
	}

	/**
	 * Serves one HTTP request. Method, Host, Origin, token and body have been checked. Rejects with {@link HttpError} if the
	 * client's access token lacks a scope for the call.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, given: AdmittedRequest): Promise<void> {
		const admitted = { ...given, body: readClientMessage(given.body) };
		const { access, server, body, lacksScope } = admitted;
		if (response.closed) {
			// The client has disconnected: nothing would tell when the request has ended.
			return;
		}
		try {
			if (this.#stopping) {
				response.setHeader("Connection", "close");
				sendJsonRpcError(response, 503, SERVER_ERROR, "The gateway is shutting down");
				return;
			}
			if (body !== undefined && (typeof body !== "object" || body === null)) {
				sendJsonRpcError(response, 400, ProtocolErrorCode.InvalidRequest, "Invalid Request: not a JSON-RPC message");
				return;
			}
			if ([body].flat().some((message) => isRequest(message, "tools/call"))) {
				this.#calls.add(response);
				response.once("close", () => this.#calls.delete(response));
			}
			const { view, problem } = viewInUrl(request.url ?? "");
			if (problem !== undefined) {
				sendJsonRpcError(response, 400, ProtocolErrorCode.InvalidParams, problem);
				return;
			}
			if (server !== undefined && access.devices?.has(server) !== false) {
				await this.#gateway.whenKnown(server);
			}
			const catalog = this.#gateway.catalog(access, server, view);
			if (server !== undefined && !catalog.hasServer) {
				sendJsonRpcError(response, 404, SESSION_NOT_FOUND, `Unknown device: ${server}`);
				return;
			}
			const scope = lacksScope && this.#lackingScope(catalog, admitted, view);
			if (lacksScope && scope !== undefined) {
				throw lacksScope(scope);
			}
			const { requestStates, updates, events, tasks, checkCall } = this.#gateway;
			// A token for some devices does not reach configured servers, nor learn of their problems.
			const whenKnown = access.devices === undefined ? this.#gateway.whenKnown : undefined;
			const { principal, holder, address } = access;
			const shared = { ...this.#listTtl, catalog, requestStates, updates, events, tasks, whenKnown, checkCall };
			const client = { ...shared, principal, holder, address, server };
			await this.#serve(request, response, client, body);
		} catch (error) {
			if (error instanceof HttpError) {
				throw error;
			}
			this.#report(error as Error);
			if (!response.headersSent) {
				sendJsonRpcError(response, 500, ProtocolErrorCode.InternalError, "Internal server error");
			}
		}
	}

	/** Rejects requests from now on. The ones that are being served go on. */
	stop(): void {
		this.#stopping = true;
	}

	/** Ends sessions, streams and requests in progress. Calls that have ended get their answers first. */
	async close(): Promise<void> {
		this.stop();
		const answered = Promise.all(
			[...this.#calls].map((response) => new Promise((resolve) => response.once("close", resolve))),
		);
		await Promise.race([answered, delay(ANSWER_TIME, undefined, { ref: false })]);
		await Promise.all([this.#sessions.close(), this.#stateless.close()]);
	}

	async #serve(request: IncomingMessage, response: ServerResponse, client: SessionClient, body: unknown) {
		const { "mcp-session-id": id } = request.headers;
		const inbound = id === undefined || !this.#sessions.has(`${id}`) ? classify(request, body) : undefined;
		if (inbound === undefined || inbound.kind === "legacy") {
			await this.#sessions.handle(request, response, client, body);
		} else {
			await this.#stateless.handle(request, response, client, inbound, body);
		}
	}

	/**
	 * The scopes with which a client could call the tool that it names, if a tool of its devices is hidden from it.
	 *
	 * @returns undefined if the call needs no more than the client has, or names no tool
	 */
	#lackingScope(catalog: Catalog, { access, server, body }: AdmittedRequest, view: Partial<ToolView> = {}) {
		const name = isRequest(body, "tools/call") && isObject(body.params) ? body.params.name : undefined;
		if (typeof name !== "string" || (catalog.findTool(name) ?? catalog.findGroup(name)) !== undefined) {
			return undefined;
		}
		const widest = this.#gateway.catalog({ ...access, readOnly: false, userTools: true }, server, view);
		const found = widest.findTool(name) ?? widest.findGroup(name)?.members[0];
		return found && scopesOf({ devices: access.devices && [...access.devices], userTools: isUserOnly(found.tool) });
	}

	#report(error: Error): void {
		this.#gateway.servers.emit("warning", `client request: ${error.message}`);
	}
}

function isRequest(message: unknown, method: string): message is { readonly params?: unknown } {
	return isObject(message) && message.method === method;
}

/** Whether a request is one of the revisions up to 2025-11-25, or of a later one and valid. */
function classify({ method = "", headers }: IncomingMessage, body: unknown): InboundClassificationOutcome {
	const inbound = {
		httpMethod: method,
		protocolVersionHeader: headers["mcp-protocol-version"],
		mcpMethodHeader: headers["mcp-method"],
		mcpNameHeader: headers["mcp-name"],
		body,
	};
	return classifyInboundRequest(inbound as Parameters<typeof classifyInboundRequest>[0]);
}
