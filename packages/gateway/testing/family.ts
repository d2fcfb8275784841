// Devices of the protocol family as other firmwares make them: what they send, message by message.
import { once } from "node:events";
import type { TestContext } from "node:test";
import mqtt, { type MqttClient } from "mqtt";
import { WebSocket } from "ws";
import type { Server, ServerTool } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";
import type { Gateway } from "../src/mcp/gateway.js";

/** The hello of the C++ firmware and of py-xiaozhi; the transport is "websocket" or "udp". */
export function familyHello(transport: string | undefined, version = 1): object {
	return {
		type: "hello",
		version,
		features: { mcp: true },
		...(transport !== undefined && { transport }),
		audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 },
	};
}

/** Twenty bytes of Opus in the framing of each version of the protocol. */
export const AUDIO_FRAMES: readonly Buffer[] = [
	Buffer.alloc(20, 0x5a),
	Buffer.concat([Buffer.from([0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0xd2, 0, 0, 0, 20]), Buffer.alloc(20, 0x5a)]),
	Buffer.concat([Buffer.from([0, 0, 0, 20]), Buffer.alloc(20, 0x5a)]),
];

export const CONVERSATION: readonly object[] = [
	{ type: "listen", state: "detect", text: "hello" },
	{ type: "listen", state: "start", mode: "auto" },
	{ type: "listen", state: "stop" },
	{ type: "abort", reason: "wake_word_detected" },
	{ type: "iot", update: true, states: [{ name: "Speaker", state: { volume: 70 } }] },
	{ type: "iot", update: true, descriptors: [{ name: "Speaker", properties: {}, methods: {} }] },
	{ type: "glyph_push", glyphs: [] },
];

const TOOL = {
	name: "self.lamp.set",
	description: "Switch the lamp.",
	inputSchema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
};

/** On a page of its own, whose cursor is its name, as py-xiaozhi has it. */
const WEATHER = { ...TOOL, name: "get_weather" };

interface Message {
	readonly type: string;
	readonly session_id?: string;
	readonly payload?: { readonly id?: number; readonly method?: string; readonly params?: { readonly cursor?: string } };
	readonly [member: string]: unknown;
}

type OnCall = () => object;

const DONE: OnCall = () => ({ result: { content: [{ type: "text", text: "true" }], isError: false } });

/** Each device of the C++ firmware has it. */
const SET_VOLUME = {
	name: "self.audio_speaker.set_volume",
	inputSchema: { type: "object", properties: { volume: { type: "integer" } }, required: ["volume"] },
};

class FamilyMcp {
	readonly received: Message[] = [];
	/** The session id in its messages; undefined: none. */
	sessionId: string | undefined = "";
	version = "2.0.3";
	readonly #send: (text: string) => void;
	readonly #onCall: OnCall;

	constructor(send: (text: string) => void, onCall: OnCall = DONE) {
		this.#send = send;
		this.#onCall = onCall;
	}

	say(message: object): void {
		this.#send(JSON.stringify({ ...(this.sessionId !== undefined && { session_id: this.sessionId }), ...message }));
	}

	receive(text: string): void {
		const message = JSON.parse(text) as Message;
		this.received.push(message);
		const { id, method, params } = message.payload ?? {};
		if (message.type === "mcp" && id !== undefined && method !== undefined) {
			this.say({ type: "mcp", payload: { jsonrpc: "2.0", id, ...this.#answer(method, params?.cursor) } });
		}
	}

	first(type: string): Message | undefined {
		return this.received.find((message) => message.type === type);
	}

	#answer(method: string, cursor: string | undefined): object {
		if (method === "initialize") {
			const serverInfo = { name: "bread-compact-wifi", version: this.version };
			return { result: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo } };
		}
		if (method === "tools/list") {
			return {
				result:
					cursor === WEATHER.name ? { tools: [WEATHER, SET_VOLUME] } : { tools: [TOOL], nextCursor: WEATHER.name },
			};
		}
		return method === "tools/call" ? this.#onCall() : { error: { message: `Method not implemented: ${method}` } };
	}
}

export async function connectWebSocket(
	test: TestContext,
	url: string,
	{ onCall, ...options }: { headers?: Record<string, string>; autoPong?: boolean; onCall?: OnCall } = {},
): Promise<{ socket: WebSocket; mcp: FamilyMcp }> {
	const socket = new WebSocket(url, options);
	test.after(() => socket.terminate());
	const mcp = new FamilyMcp((text) => socket.send(text), onCall);
	socket.on("message", (data: Buffer) => mcp.receive(data.toString()));
	await once(socket, "open");
	return { socket, mcp };
}

/** Connects a device over MQTT. It says nothing by itself, and subscribes to nothing, as the C++ firmware. */
export async function connectMqtt(
	test: TestContext,
	url: string,
	options: { clientId: string; username?: string; password?: string },
): Promise<{ client: MqttClient; mcp: FamilyMcp }> {
	const topic = `xs-mcp/${options.clientId}/up`;
	const client = mqtt.connect(url, { protocolVersion: 4, reconnectPeriod: 0, ...options });
	test.after(() => client.endAsync(true));
	const mcp = new FamilyMcp((text) => client.publish(topic, text));
	client.on("message", (_topic, payload) => mcp.receive(payload.toString()));
	await once(client as never, "connect");
	return { client, mcp };
}

export async function callLamp({ gateway }: { readonly gateway: Gateway }, id: string): Promise<unknown> {
	await until(() => gateway.servers.find(id)?.online === true, "the device is online");
	const server = gateway.servers.find(id) as Server;
	const result = await server.call(server.tools[0] as ServerTool, { on: true }, { principal: "somebody" });
	return (result as { content: { text?: unknown }[] }).content[0]?.text;
}
