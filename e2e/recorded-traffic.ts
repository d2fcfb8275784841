import assert from "node:assert/strict";

// Recorded messages of other backends, in order: `npm run interop` runs the real ones.

/** A step of a dialogue, seen from the peer. */
type Step =
	/** The peer sends this. */
	| { readonly sends: object | Buffer }
	/** Ours sends something that has these members. Notifications, and what was not asked for, may come before. */
	| { readonly expects: object };

const AUDIO_PARAMS = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

const request = (id: number, method: string, params?: object): Step => ({
	sends: { type: "mcp", payload: { jsonrpc: "2.0", id, method, ...(params && { params }) } },
});

const answered = (id: number, result: object): Step => ({
	expects: { type: "mcp", payload: { jsonrpc: "2.0", id, result } },
});

const LISTED = { tools: [{ name: "self.get_device_status" }] };
const DONE = { content: [{ type: "text", text: "true" }], isError: false };

const setVolume = (volume: number): object => ({ name: "self.audio_speaker.set_volume", arguments: { volume } });

/** xinnan-tech/xiaozhi-esp32-server, over WebSocket. It counts calls from 1 again, whatever ids it has used. */
export const XIAOZHI_SERVER: readonly Step[] = [
	{ expects: { type: "hello", version: 1, transport: "websocket", features: { mcp: true } } },
	{
		sends: { type: "hello", version: 1, transport: "websocket", audio_params: AUDIO_PARAMS, session_id: "12536af8" },
	},
	request(1, "initialize", {
		protocolVersion: "2024-11-05",
		capabilities: {
			roots: { listChanged: true },
			sampling: {},
			vision: { url: "http://127.0.0.1:1/mcp/vision/explain", token: "header.payload.signature" },
		},
		clientInfo: { name: "XiaozhiClient", version: "1.0.0" },
	}),
	answered(1, { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "virtual" } }),
	request(2, "tools/list"),
	answered(2, LISTED),
	{ sends: { type: "stt", text: "volume 41, please", session_id: "12536af8" } },
	{ sends: { type: "tts", state: "start", session_id: "12536af8" } },
	{ sends: { type: "llm", text: "🙂", emotion: "happy", session_id: "12536af8" } },
	{ sends: { type: "stt", text: "% self_audio_speaker_set_volume", session_id: "12536af8" } },
	request(1, "tools/call", setVolume(41)),
	answered(1, DONE),
	{ sends: Buffer.alloc(120, 0x5a) },
	{ sends: { type: "tts", state: "sentence_start", text: "Done.", session_id: "12536af8" } },
	{ sends: { type: "tts", state: "stop", session_id: "12536af8" } },
	request(2, "tools/call", setVolume(400)),
	{
		expects: {
			type: "mcp",
			payload: { id: 2, error: { message: "volume: expected an integer from 0 to 100, got 400" } },
		},
	},
];

/** The same, to a device that nobody has bound yet: it never answers the hello. */
export const XIAOZHI_SERVER_UNBOUND: readonly Step[] = [
	{ expects: { type: "hello" } },
	{ sends: { type: "stt", text: "请登录控制面板，输入246810，绑定设备。", session_id: "6b8f0e0c" } },
	{ sends: Buffer.alloc(120, 0x5a) },
];

/** xinnan-tech/xiaozhi-mqtt-gateway: it lists the tools as soon as a device is connected, for itself, before any hello. */
export const MQTT_GATEWAY: readonly Step[] = [
	request(10_000, "initialize", {
		protocolVersion: "2024-11-05",
		capabilities: {},
		clientInfo: { name: "xiaozhi-mqtt-client", version: "1.0.0" },
	}),
	answered(10_000, { protocolVersion: "2024-11-05" }),
	{ sends: { type: "mcp", payload: { jsonrpc: "2.0", method: "notifications/initialized" } } },
	request(10_001, "tools/list", {}),
	answered(10_001, LISTED),
	{
		sends: {
			type: "hello",
			version: 3,
			session_id: "chat-1",
			transport: "udp",
			udp: {
				server: "127.0.0.1",
				port: 9,
				encryption: "aes-128-ctr",
				key: "00112233445566778899aabbccddeeff",
				nonce: "01000000c0ffee000000000000000000",
			},
			audio_params: AUDIO_PARAMS,
		},
	},
	request(10_002, "tools/call", setVolume(42)),
	answered(10_002, DONE),
	{ sends: { type: "goodbye", session_id: "chat-1" } },
	request(10_003, "tools/call", setVolume(43)),
	answered(10_003, DONE),
];

interface Wire {
	/** @param message bytes become a binary frame */
	say(message: object | Buffer): void;
	hear(): Promise<string>;
}

const MAX_OTHERS = 5;

/** Says and expects what is in a recording, step by step. */
export async function replay(wire: Wire, steps: readonly Step[]): Promise<void> {
	for (const step of steps) {
		if ("sends" in step) {
			wire.say(step.sends);
		} else {
			await hearOne(wire, step.expects);
		}
	}
}

async function hearOne(wire: Wire, part: object): Promise<void> {
	const others: unknown[] = [];
	for (;;) {
		const message = JSON.parse(await wire.hear());
		if (contains(message, part)) {
			return;
		}
		others.push(message);
		assert.ok(others.length < MAX_OTHERS, `expected ${JSON.stringify(part)}, got ${JSON.stringify(others)}`);
	}
}

function contains(value: unknown, part: unknown): boolean {
	if (typeof part !== "object" || part === null) {
		return value === part;
	}
	return (
		typeof value === "object" &&
		value !== null &&
		Object.entries(part).every(([name, member]) => contains((value as Record<string, unknown>)[name], member))
	);
}
