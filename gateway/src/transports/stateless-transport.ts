import type { ServerResponse } from "node:http";
import {
	type JSONRPCMessage,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUBSCRIPTION_ID_META_KEY,
	type Transport,
	type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { COMMENT, Exchange, eventOf, type ResponseForm, textOf } from "./exchange.js";

/** Notifications that a client which reads slowly can miss. */
const OF_CALLS: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/**
 * Requests of 2026-07-28 to one server. They may be of several clients, so that the server gets ids of the transport's own. A
 * client that disconnects cancels its request.
 */
export class StatelessTransport implements Transport {
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
		this.#lastId += 1;
		const id = this.#lastId;
		const exchange = new Exchange(response, this.#form);
		exchange.pending.set(id, request);
		this.#exchanges.set(id, exchange);
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
