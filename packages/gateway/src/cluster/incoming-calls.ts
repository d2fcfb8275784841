import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { Msg } from "@nats-io/transport-node";
import { type Server, ServerError } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import type { Bus } from "./bus.js";
import { type Call, callSchema, cancelSchema, type Reply, readMessage, VERSION } from "./messages.js";

/** The requests that other gateways may make. */
const METHODS: ReadonlySet<string> = new Set([
	"tools/call",
	"resources/read",
	"prompts/get",
	"completion/complete",
	"resources/subscribe",
	"resources/unsubscribe",
	"logging/setLevel",
	"ping",
]);

interface Subscription {
	readonly device: string;
	readonly gateway: string | undefined;
	readonly uri: string;
	/** Ends it. */
	readonly remove: () => void;
}

/** Calls of other gateways' clients to the devices that are here. */
export class IncomingCalls {
	readonly #bus: Bus;
	readonly #deviceOf: (call: Call) => Server | string;
	/** By the subject of the replies. */
	readonly #calls = new Map<string, AbortController>();
	/** Subscriptions of other gateways' clients: one for each gateway, device and resource. */
	#subscriptions: Subscription[] = [];

	/** @param deviceOf returns the device in the session that a call names, or why nothing may be sent to it */
	constructor(bus: Bus, deviceOf: (call: Call) => Server | string) {
		this.#bus = bus;
		this.#deviceOf = deviceOf;
	}

	/** Calls in progress. */
	get size(): number {
		return this.#calls.size;
	}

	/** Answers a call, once. Never rejects. */
	async received({ data, reply }: Msg): Promise<void> {
		const call = readMessage(callSchema, data);
		if (reply === undefined || reply === "" || this.#calls.has(reply)) {
			return;
		}
		const controller = new AbortController();
		this.#calls.set(reply, controller);
		try {
			this.#reply(reply, { result: (await this.#answer(call, reply, controller.signal)) as Reply["result"] });
		} catch (error) {
			this.#reply(reply, failure(error));
		} finally {
			this.#calls.delete(reply);
		}
	}

	/** A client has cancelled. */
	cancelled({ data }: Msg): void {
		const { reply = "" } = readMessage(cancelSchema, data) ?? {};
		this.#calls.get(reply)?.abort();
	}

	/** A device has gone: its subscriptions are made again where it returns. */
	deviceGone(id: string): void {
		this.#unfollow(({ device }) => device === id);
	}

	/** A gateway has gone: its clients follow no resources any more. */
	gatewayGone(gateway: string): void {
		this.#unfollow((each) => each.gateway === gateway);
	}

	async #answer(call: Call | undefined, reply: string, signal: AbortSignal): Promise<object> {
		if (call === undefined || !METHODS.has(call.method)) {
			const text = "the gateway that has the device does not know this request: it may be older. Nothing was sent.";
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, text);
		}
		const server = this.#deviceOf(call);
		if (typeof server === "string") {
			throw new ServerError("server-offline", `${server}. Nothing was sent to the device.`);
		}
		const { method, params } = call;
		if (method === "resources/subscribe" || method === "resources/unsubscribe") {
			await this.#follow(server, String(params.uri), reply, method === "resources/subscribe");
			return {};
		}
		const { _meta, ...rest } = params;
		const { progressToken, ...meta } = isObject(_meta) ? _meta : {};
		const hasMeta = Object.keys(meta).length > 0;
		const onProgress = (progress: Reply["progress"]): void => this.#reply(reply, { progress });
		const tool = method === "tools/call" ? server.tools.find(({ name }) => name === params.name) : undefined;
		const request = { method, params: { ...rest, ...(hasMeta && { _meta: meta }) }, tool, isForwarded: true };
		return await server.request(request, { signal, ...(progressToken !== undefined && { onProgress }) });
	}

	async #follow({ id: device, subscriptions }: Server, uri: string, reply: string, wanted: boolean): Promise<void> {
		// PREFIX.to.GATEWAY.reply.CALL
		const gateway = reply.split(".")[2];
		const remove = wanted ? await subscriptions.add(uri) : undefined;
		this.#unfollow((each) => each.device === device && each.gateway === gateway && each.uri === uri);
		if (remove !== undefined) {
			this.#subscriptions.push({ device, gateway, uri, remove });
		}
	}

	#unfollow(matches: (subscription: Subscription) => boolean): void {
		const ended = this.#subscriptions.filter(matches);
		this.#subscriptions = this.#subscriptions.filter((each) => !ended.includes(each));
		for (const { remove } of ended) {
			remove();
		}
	}

	/** Without a connection the answer is lost: the other gateway says so to its client. */
	#reply(subject: string, reply: Reply): void {
		if (this.#bus.connected) {
			this.#bus.publish(subject, { v: VERSION, ...reply });
		}
	}
}

function failure(error: unknown): Reply {
	if (error instanceof ServerError) {
		const { code, message } = error;
		return { failed: { code, message } };
	}
	if (ProtocolError.isInstance(error)) {
		const { code, message, data } = error;
		return { error: { code, message, data } };
	}
	return { error: { code: ProtocolErrorCode.InternalError, message: (error as Error).message } };
}
