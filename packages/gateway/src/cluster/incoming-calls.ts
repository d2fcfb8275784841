import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { Msg } from "@nats-io/transport-node";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { type Server, ServerError } from "xs-mcp-manager/core";
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
export type IncomingCalls = ReturnType<typeof takeCalls>;

/**
 * Takes the calls of other gateways' clients.
 *
 * @param deviceOf returns the device in the session that a call names, or why nothing may be sent to it
 */
export function takeCalls(bus: Bus, deviceOf: (call: Call) => Server | string) {
	/** Calls by the subject of their replies. */
	const calls = new Map<string, AbortController>();
	/** Subscriptions of other gateways' clients: one for each gateway, device and resource. */
	let subscriptions: Subscription[] = [];

	const unfollow = (matches: (subscription: Subscription) => boolean): void => {
		const ended = subscriptions.filter(matches);
		subscriptions = subscriptions.filter((each) => !ended.includes(each));
		for (const { remove } of ended) {
			remove();
		}
	};

	const follow = async (server: Server, uri: string, reply: string, wanted: boolean): Promise<void> => {
		const { id: device } = server;
		// PREFIX.to.GATEWAY.reply.CALL
		const gateway = reply.split(".")[2];
		const remove = wanted ? await server.subscriptions.add(uri) : undefined;
		unfollow((each) => each.device === device && each.gateway === gateway && each.uri === uri);
		if (remove !== undefined) {
			subscriptions.push({ device, gateway, uri, remove });
		}
	};

	/** Sends a reply. It is lost if there is no connection, which the other gateway reports to its client. */
	const send = (subject: string, reply: Reply): void => {
		if (bus.connected) {
			bus.publish(subject, { v: VERSION, ...reply });
		}
	};

	const answer = async (call: Call | undefined, reply: string, signal: AbortSignal): Promise<object> => {
		if (call === undefined || !METHODS.has(call.method)) {
			const text = "the gateway that has the device does not know this request: it may be older. Nothing was sent.";
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, text);
		}
		const server = deviceOf(call);
		if (typeof server === "string") {
			throw new ServerError("server-offline", `${server}. Nothing was sent to the device.`);
		}
		const { method, params } = call;
		if (method === "resources/subscribe" || method === "resources/unsubscribe") {
			await follow(server, String(params.uri), reply, method === "resources/subscribe");
			return {};
		}
		const { _meta, ...rest } = params;
		const { progressToken, ...meta } = isObject(_meta) ? _meta : {};
		const hasMeta = Object.keys(meta).length > 0;
		const onProgress = (progress: Reply["progress"]): void => send(reply, { progress });
		const tool = method === "tools/call" ? server.tools.find(({ name }) => name === params.name) : undefined;
		const request = { method, params: { ...rest, ...(hasMeta && { _meta: meta }) }, tool, isForwarded: true };
		return await server.request(request, { signal, ...(progressToken !== undefined && { onProgress }) });
	};

	return {
		/** Calls in progress. */
		get size(): number {
			return calls.size;
		},
		/** Answers a call, once. Never rejects. */
		async received({ data, reply }: Msg): Promise<void> {
			const call = readMessage(callSchema, data);
			if (reply === undefined || reply === "" || calls.has(reply)) {
				return;
			}
			const controller = new AbortController();
			calls.set(reply, controller);
			try {
				send(reply, { result: (await answer(call, reply, controller.signal)) as Reply["result"] });
			} catch (error) {
				send(reply, failure(error));
			} finally {
				calls.delete(reply);
			}
		},
		/** A client has cancelled. */
		cancelled({ data }: Msg): void {
			const { reply = "" } = readMessage(cancelSchema, data) ?? {};
			calls.get(reply)?.abort();
		},
		/** A device has gone: its subscriptions are made again where it returns. */
		deviceGone: (id: string): void => unfollow(({ device }) => device === id),
		/** A gateway has gone: its clients follow no resources any more. */
		gatewayGone: (gateway: string): void => unfollow((each) => each.gateway === gateway),
	};
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
