import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import {
	type JSONRPCRequest,
	ProtocolError,
	ProtocolErrorCode,
	SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { headerProblem, isUserOnly, readClientMessage, SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import type { Catalog } from "../catalog/catalog.js";
import { viewInUrl } from "../catalog/tool-view.js";
import type { Access } from "../config/access.js";
import { scopesOf } from "../config/scopes.js";
import { isObject } from "../firmware.js";
import { HttpError, RpcRejection } from "../http/http-error.js";
import { Client } from "../mcp/client.js";
import { ClientRequest } from "../mcp/client-request.js";
import type { Gateway } from "../mcp/gateway.js";
import { StatelessExchange } from "./exchange.js";
import { isRequest, readStateless } from "./messages.js";
import { headersProblem, parameterHeaders, standardHeaders } from "./request-headers.js";
import type { ConnectedClient } from "./session.js";
import { Sessions, type SessionsOptions } from "./sessions.js";

export type HttpEndpointOptions = SessionsOptions;

/** A request of a client that may use the gateway. */
interface AdmittedRequest {
	readonly access: Access;
	/** The network address of the client. */
	readonly address?: string;
	/** Alias or id, from the path /mcp/DEVICE. */
	readonly server: string | undefined;
	/** The JSON that was read; undefined if the request has no body. */
	readonly body: unknown;
	/** Makes the rejection of a call that needs other scopes; undefined if the client has no access token. */
	readonly lacksScope?: ((scope: string) => HttpError) | undefined;
}

/** Milliseconds for the answers to calls to be sent when the endpoint closes. */
const ANSWER_TIME = 1_000;

/** The code of an error in headers: HeaderMismatch. */
const HEADER_MISMATCH = -32_020;

/**
 * Serves MCP over Streamable HTTP, to clients of every revision: up to 2025-11-25 in sessions, since 2026-07-28 request by
 * request.
 */
export class HttpEndpoint {
	readonly #gateway: Gateway;
	readonly #listTtl: number | undefined;
	readonly #sessions: Sessions;
	/** Clients without a session: those with the same token and view, on the same path, share one. By catalog. */
	readonly #stateless = new WeakMap<Catalog, Client>();
	/** Requests of clients without a session that have no answer. */
	readonly #open = new Map<ClientRequest, StatelessExchange>();
	/** Responses to calls of tools that are not complete. */
	readonly #calls = new Set<ServerResponse>();
	#stopping = false;

	constructor(gateway: Gateway, options: HttpEndpointOptions = {}) {
		this.#gateway = gateway;
		this.#listTtl = options.listTtl;
		this.#sessions = new Sessions(gateway, options, (error) => this.#report(error));
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
	async handle(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
		if (response.closed) {
			// The client has disconnected: no event would tell when the request has ended.
			return;
		}
		try {
			await this.#serve(request, response, { ...admitted, body: readClientMessage(admitted.body) });
		} catch (error) {
			if (error instanceof HttpError) {
				throw error;
			}
			if (error instanceof RpcRejection) {
				error.send(response);
				return;
			}
			this.#report(error as Error);
			if (!response.headersSent) {
				new RpcRejection(500, ProtocolErrorCode.InternalError, "Internal server error").send(response);
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
		this.#sessions.close();
		for (const [request, exchange] of this.#open) {
			request.cancel("the gateway has stopped");
			exchange.interrupt();
		}
	}

	async #serve(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
		const { access, address = "", server, body } = admitted;
		if (this.#stopping) {
			const headers = { Connection: "close" };
			throw new RpcRejection(503, SERVER_ERROR, "The gateway is shutting down", { headers });
		}
		if (body !== undefined && (typeof body !== "object" || body === null)) {
			throw new RpcRejection(400, ProtocolErrorCode.InvalidRequest, "Invalid Request: not a JSON-RPC message");
		}
		if (Array.isArray(body) ? body.some(isCall) : isCall(body)) {
			this.#calls.add(response);
			response.once("close", () => this.#calls.delete(response));
		}
		const { view, problem } = viewInUrl(request.url ?? "");
		if (problem !== undefined) {
			throw new RpcRejection(400, ProtocolErrorCode.InvalidParams, problem);
		}
		if (server !== undefined && access.devices?.has(server) !== false) {
			await this.#gateway.whenKnown(server);
		}
		const catalog = this.#gateway.catalog(access, server, view);
		if (server !== undefined && !catalog.hasServer) {
			throw new RpcRejection(404, SESSION_NOT_FOUND, `Unknown device: ${server}`);
		}
		this.#checkScope(catalog, admitted);
		if (response.closed) {
			return;
		}
		const { "mcp-session-id": id } = request.headers;
		const isOfSession = id !== undefined && this.#sessions.has(`${id}`);
		const message = isOfSession ? undefined : this.#readStateless(request, body);
		if (message === undefined) {
			checkForm(request);
			await this.#sessions.handle(request, response, { catalog, address }, body);
		} else if (isRequest(message)) {
			this.#serveStateless(request, response, catalog, message);
		} else {
			// This revision has no notifications to servers: a client cancels a request by closing its connection.
			response.writeHead(202).end();
		}
	}

	#readStateless({ method, headers }: IncomingMessage, body: unknown): ReturnType<typeof readStateless> {
		try {
			return readStateless(body, method, headers);
		} catch (error) {
			throw this.#rejection(error as ProtocolError, (body as { readonly id?: unknown }).id);
		}
	}

	/** Serves a request of a client of 2026-07-28. */
	#serveStateless(
		{ headers }: IncomingMessage,
		response: ServerResponse,
		catalog: Catalog,
		message: JSONRPCRequest,
	): void {
		const client = this.#clientFor(catalog);
		const { id, method, params } = message;
		const schema = method === "tools/call" ? client.toolInputSchema(`${params?.name}`) : undefined;
		const standard = { "MCP-Protocol-Version": client.revision, ...standardHeaders(message) };
		// Clients cannot send the headers of a faulty schema.
		const problem =
			headersProblem(headers, standard) ??
			(headerProblem(schema) === undefined
				? headersProblem(headers, parameterHeaders(schema, params?.arguments))
				: undefined);
		if (problem !== undefined) {
			const text = `Bad Request: the request headers and body disagree: ${problem}`;
			throw this.#rejection(new ProtocolError(HEADER_MISMATCH, text), id);
		}
		if (!client.hasMethod(method)) {
			throw new RpcRejection(404, ProtocolErrorCode.MethodNotFound, "Method not found", { id });
		}
		const exchange = new StatelessExchange(response, (error) => this.#report(error));
		const request = new ClientRequest(client, message, exchange);
		exchange.pending.set(id, message);
		this.#open.set(request, exchange);
		response.once("close", () => {
			this.#open.delete(request);
			if (exchange.pending.size > 0) {
				request.cancel("the client has disconnected");
			}
		});
		void client.serve(request);
	}

	#clientFor(catalog: Catalog): Client {
		const options = { listTtl: this.#listTtl, isStateless: true };
		const client = this.#stateless.get(catalog) ?? new Client(this.#gateway, catalog, options);
		this.#stateless.set(catalog, client);
		return client;
	}

	#rejection({ code, message, data }: ProtocolError, id: unknown): RpcRejection {
		this.#report(new Error(`rejected: ${message}`));
		return new RpcRejection(400, code, message, { id, data });
	}

	/** Throws if a tool of the client's devices is hidden from it, and names the scopes with which the client could call it. */
	#checkScope(catalog: Catalog, { access, server, body, lacksScope }: AdmittedRequest): void {
		const name = isCall(body) && isObject(body.params) ? body.params.name : undefined;
		const isHidden = (name: unknown): name is string =>
			typeof name === "string" && (catalog.findTool(name) ?? catalog.findGroup(name)) === undefined;
		if (lacksScope === undefined || !isHidden(name)) {
			return;
		}
		const widest = this.#gateway.catalog({ ...access, readOnly: false, userTools: true }, server, catalog.view);
		const found = widest.findTool(name) ?? widest.findGroup(name)?.members[0];
		if (found !== undefined) {
			throw lacksScope(scopesOf({ devices: access.devices && [...access.devices], userTools: isUserOnly(found.tool) }));
		}
	}

	#report(error: Error): void {
		this.#gateway.servers.emit("warning", `client request: ${error.message}`);
	}
}

function isCall(message: unknown): message is { readonly params?: unknown } {
	return isObject(message) && message.method === "tools/call";
}

/** Checks the headers of a request of the revisions up to 2025-11-25. */
function checkForm({ method, headers }: IncomingMessage): void {
	const { accept, "mcp-protocol-version": version } = headers;
	if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(`${version}`)) {
		const supported = `supported versions: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}`;
		throw new RpcRejection(400, SERVER_ERROR, `Bad Request: Unsupported protocol version: ${version} (${supported})`);
	}
	if (method === "POST" && !(accepts(accept, "application/json") && accepts(accept, "text/event-stream"))) {
		const expected = "Client must accept both application/json and text/event-stream";
		throw new RpcRejection(406, SERVER_ERROR, `Not Acceptable: ${expected}`);
	}
	if (method === "GET" && !accepts(accept ?? "none", "text/event-stream")) {
		throw new RpcRejection(406, SERVER_ERROR, "Not Acceptable: Client must accept text/event-stream");
	}
}

/** Whether a header `Accept` has a media range for a type (RFC 9110 §12.5.1). Without the header, every type is accepted. */
function accepts(header = "*/*", type: string): boolean {
	const ranges = ["*/*", type.replace(/\/.*/, "/*"), type];
	return header.split(",").some((range) => ranges.includes(range.replace(/;.*/s, "").trim().toLowerCase()));
}
