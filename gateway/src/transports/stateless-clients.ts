import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import {
	type InboundLadderRejection,
	type InboundModernRoute,
	type JSONRPCMessage,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUBSCRIPTION_ID_META_KEY,
	type Transport,
	type TransportSendOptions,
	UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { headerProblem, REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { type RpcError, sendRpcError } from "../http/http-error.js";
import { ClientServer, type ClientServerOptions } from "../mcp/client-server.js";
import { eventOf } from "./event-log.js";
import { COMMENT, Exchange, type ResponseForm, textOf } from "./exchange.js";

/** Servers that are kept, so that they need not be made again for each request. */
const MAX_SERVERS = 1_000;

/** The code of an error in headers: HeaderMismatch. */
const HEADER_MISMATCH = -32_020;

/** Notifications that a client which reads slowly can miss. */
const OF_CALLS: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/** Serves clients of 2026-07-28, whose requests belong to no session. Those with the same token and catalog share a server. */
export class StatelessClients {
	readonly #onError: (error: Error) => void;
	/** By token and catalog. */
	readonly #servers = new LRUCache<string, { readonly server: ClientServer; readonly transport: StatelessTransport }>({
		max: MAX_SERVERS,
	});

	constructor(onError: (error: Error) => void) {
		this.#onError = onError;
	}

	/** Serves a message of a client, or rejects it. */
	async handle(
		{ headers }: IncomingMessage,
		response: ServerResponse,
		client: ClientServerOptions,
		inbound: InboundModernRoute | InboundLadderRejection,
		body: unknown,
	): Promise<void> {
		const { id } = body as { readonly id?: unknown };
		if (inbound.kind === "reject") {
			this.#reject(response, inbound, id);
			return;
		}
		const { revision: requested = "unknown" } = inbound.classification;
		if (requested !== REVISION_OF_STATELESS) {
			const supported = [REVISION_OF_STATELESS];
			this.#reject(response, new UnsupportedProtocolVersionError({ supported, requested }), id);
			return;
		}
		if (inbound.messageKind === "notification") {
			// This revision has no notifications to servers: a client cancels a request by closing its connection.
			response.writeHead(202).end();
			return;
		}
		const { server, transport } = await this.#serverFor(client);
		const problem = headersProblem(headers, inbound.message, (tool) => server.toolInputSchema(tool));
		if (problem !== undefined) {
			const text = `Bad Request: the request headers and body disagree: ${problem}`;
			this.#reject(response, { code: HEADER_MISMATCH, message: text }, id);
			return;
		}
		transport.handle(inbound.message, response);
	}

	/** Ends the requests in progress. */
	async close(): Promise<void> {
		await Promise.all([...this.#servers.values()].map(({ server }) => server.close()));
	}

	async #serverFor(client: ClientServerOptions) {
		const key = `${client.holder ?? ""} ${client.catalog.key}`;
		const known = this.#servers.get(key);
		if (known?.server.catalog === client.catalog) {
			return known;
		}
		const transport = new StatelessTransport(this.#onError);
		const shared = { server: new ClientServer({ ...client, revision: REVISION_OF_STATELESS }), transport };
		shared.server.onerror = this.#onError;
		await shared.server.connect(transport);
		this.#servers.set(key, shared);
		return shared;
	}

	#reject(response: ServerResponse, error: RpcError, id: unknown): void {
		this.#onError(new Error(`rejected: ${error.message}`));
		sendRpcError(response, 400, error, id);
	}
}

/**
 * Requests of 2026-07-28 to one server. They may be of several clients, so that the server gets ids of the transport's own. A
 * client that disconnects cancels its request.
 */
class StatelessTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	readonly #form: ResponseForm;
	/** By the transport's ids of requests. */
	readonly #exchanges = new Map<unknown, Exchange>();
	#lastId = 0;
	/** True while the server dispatches a request: an answer at that moment is the SDK's, not a handler's. */
	#isDispatching = false;

	constructor(onError: (error: Error) => void) {
		this.#form = { headers: () => ({}), event: (_, json) => eventOf(json), first: () => COMMENT, onError };
	}

	async start(): Promise<void> {}

	/** Serves a valid request. */
	handle(request: JSONRPCRequest, response: ServerResponse): void {
		if (response.closed) {
			return;
		}
		this.#lastId += 1;
		const id = this.#lastId;
		this.#exchanges.set(id, new Exchange(response, this.#form, { requests: [[id, request]] }));
		response.once("close", () => {
			if (this.#exchanges.delete(id)) {
				this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
			}
		});
		this.#isDispatching = true;
		this.onmessage?.({ ...request, id });
		this.#isDispatching = false;
	}

	async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
		const isAnswer = !("method" in message);
		const id = (isAnswer ? message.id : options?.relatedRequestId) as RequestId;
		const exchange = this.#exchanges.get(id);
		const request = exchange?.pending.get(id);
		if (exchange === undefined || request === undefined) {
			// Its client has disconnected; or it belongs to no request, and this revision has no stream for it.
			return;
		}
		const text = textOf(withId(message, request.id));
		if (isAnswer) {
			this.#exchanges.delete(id);
			const code = "error" in message ? message.error.code : undefined;
			const isUnknown = code === ProtocolErrorCode.MethodNotFound && this.#isDispatching;
			const isMissing = code === ProtocolErrorCode.MissingRequiredClientCapability;
			exchange.answer(id, text, isUnknown ? 404 : isMissing ? 400 : 200);
		} else if (!exchange.isSlow) {
			exchange.write(eventOf(text));
		} else if (!OF_CALLS.has(message.method)) {
			exchange.cut();
		}
	}

	/** Ends the requests in progress. */
	async close(): Promise<void> {
		for (const exchange of this.#exchanges.values()) {
			exchange.interrupt();
		}
		this.#exchanges.clear();
		this.onclose?.();
	}
}

/** Replaces the transport's id of a request by the client's, also in the metadata of a stream. */
function withId(message: JSONRPCMessage, id: RequestId): JSONRPCMessage {
	const own = "method" in message ? {} : { id };
	const [member, part] =
		"method" in message ? ["params", message.params] : ["result", (message as { result?: object }).result];
	const meta = (part as { _meta?: object } | undefined)?._meta;
	const isNamed = meta !== undefined && SUBSCRIPTION_ID_META_KEY in meta;
	const named = isNamed && { [member as string]: { ...part, _meta: { ...meta, [SUBSCRIPTION_ID_META_KEY]: id } } };
	return { ...message, ...own, ...named } as JSONRPCMessage;
}

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMES: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
	"tasks/get": "taskId",
	"tasks/update": "taskId",
	"tasks/cancel": "taskId",
};

/** The form of a header whose text is not ASCII. */
const BASE64 = /^=\?base64\?(.*)\?=$/;

const DECIMAL = /^-?\d+(\.\d+)?$/;

/**
 * How the headers of a request of 2026-07-28 differ from its body: MCP "Standard Request Headers" and "Custom Headers from Tool
 * Parameters". Undefined for a valid request.
 *
 * @param schemaOf the schema of a tool's arguments
 */
function headersProblem(
	headers: IncomingHttpHeaders,
	{ method, params = {} }: JSONRPCRequest,
	schemaOf: (tool: string) => unknown,
): string | undefined {
	const missing = ["MCP-Protocol-Version", "Mcp-Method"].find((name) => headers[name.toLowerCase()] === undefined);
	if (missing !== undefined) {
		return `the header ${missing} is missing`;
	}
	const name = params[NAMES[method] ?? ""];
	const problem = typeof name === "string" ? problemOf(headers, "Mcp-Name", name) : undefined;
	if (problem !== undefined || method !== "tools/call") {
		return problem;
	}
	const schema = schemaOf(`${name}`);
	const problemOfArguments = argumentsProblem(headers, schema, params.arguments);
	// Clients cannot send the headers of a faulty schema.
	return problemOfArguments !== undefined && headerProblem(schema) === undefined ? problemOfArguments : undefined;
}

/** Compares the arguments that a schema requests as headers, at any depth of objects. */
function argumentsProblem(headers: IncomingHttpHeaders, schema: unknown, args: unknown): string | undefined {
	const properties = isObject(schema) && isObject(schema.properties) && isObject(args) ? schema.properties : {};
	for (const [key, property] of Object.entries(properties)) {
		const value = (args as Record<string, unknown>)[key];
		const header = isObject(property) ? property["x-mcp-header"] : undefined;
		const problem =
			typeof header === "string" && isScalar(value)
				? problemOf(headers, `Mcp-Param-${header}`, value)
				: argumentsProblem(headers, property, value);
		if (problem !== undefined) {
			return problem;
		}
	}
	return undefined;
}

/** Integers beyond 2^53 are not exact. */
function isScalar(value: unknown): value is string | number | boolean {
	const isNumber = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
	return isNumber || typeof value === "string" || typeof value === "boolean";
}

function problemOf(headers: IncomingHttpHeaders, name: string, value: string | number | boolean): string | undefined {
	const header = headers[name.toLowerCase()];
	const base64 = BASE64.exec(`${header}`)?.[1];
	const text = base64 === undefined ? `${header}` : Buffer.from(base64, "base64").toString();
	if (header === undefined || (base64 !== undefined && Buffer.from(text).toString("base64") !== base64)) {
		return `the header ${name} is ${header === undefined ? "missing" : "not Base64 of UTF-8"}`;
	}
	const isSame = typeof value === "number" && DECIMAL.test(text) ? Number(text) === value : text === `${value}`;
	return isSame ? undefined : `the header ${name} is ${JSON.stringify(text)}, the body has ${JSON.stringify(value)}`;
}
