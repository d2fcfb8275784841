// Recorded messages of other backends and devices, in order: `npm run interop` runs the real ones.

/** A step of a dialogue, seen from the peer. */
export type Step =
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

/** A step of a dialogue that a device has with the gateway. */
export type DeviceStep =
	| Step
	/** The device answers the gateway's next request, which must be this. */
	| { readonly asked: { readonly method: string; readonly params?: object }; readonly answers: object };

const byMethod = (method: string, params: object | undefined, answers: object): DeviceStep => ({
	asked: { method, ...(params && { params }) },
	answers,
});

const pyTool = (name: string, properties: object = {}, required: string[] = []): object => ({
	name,
	description: "查询指定城市。",
	inputSchema: { type: "object", properties, required },
});

/** MCP answers of huangjunsen0406/py-xiaozhi. A cursor is the name of the next page's first tool. */
const PY_XIAOZHI_MCP: readonly DeviceStep[] = [
	byMethod("initialize", undefined, {
		result: {
			protocolVersion: "2024-11-05",
			capabilities: { tools: {} },
			serverInfo: { name: "py-xiaozhi", version: "2.1.1" },
		},
	}),
	{ expects: { type: "mcp", payload: { method: "notifications/initialized" } } },
	byMethod("tools/list", undefined, {
		result: { tools: [pyTool("music_player.get_status")], nextCursor: "get_weather" },
	}),
	byMethod(
		"tools/list",
		{ cursor: "get_weather" },
		{
			result: { tools: [pyTool("get_weather", { city: { type: "string", default: "北京" } }), pyTool("take_photo")] },
		},
	),
	byMethod(
		"tools/call",
		{ name: "get_weather", arguments: { city: "x" } },
		{
			result: { content: [{ type: "text", text: '{"city": "x", "condition": "晴朗"}' }], isError: false },
		},
	),
	byMethod(
		"tools/call",
		{ name: "take_photo" },
		{
			error: { code: -32603, message: "Tool disabled: take_photo" },
		},
	),
];

const LISTENS = { type: "listen", state: "start", mode: "manual" };

/** py-xiaozhi over WebSocket: it never learns the session id. */
export const PY_XIAOZHI_WEBSOCKET: readonly DeviceStep[] = [
	{
		sends: {
			type: "hello",
			version: 1,
			features: { mcp: true },
			transport: "websocket",
			audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 20 },
		},
	},
	{ expects: { type: "hello", transport: "websocket" } },
	{ sends: { session_id: "", ...LISTENS } },
	{ sends: Buffer.alloc(80, 0x5a) },
	...PY_XIAOZHI_MCP,
];

/** py-xiaozhi over MQTT: it wants an address for audio, and does without an answer there. */
export const PY_XIAOZHI_MQTT: readonly DeviceStep[] = [
	{
		sends: {
			type: "hello",
			version: 3,
			features: { mcp: true },
			transport: "udp",
			audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 20 },
		},
	},
	{ expects: { type: "hello", transport: "udp", udp: {} } },
	...PY_XIAOZHI_MCP,
];

/** One conversation of xiaozhi-esp32-server through xinnan-tech/mcp-endpoint-server, which makes its ids its own. */
const agent = (uuid: string, volume: number): readonly Step[] => [
	{
		sends: {
			jsonrpc: "2.0",
			id: `${uuid}_n_1`,
			method: "initialize",
			params: {
				protocolVersion: "2024-11-05",
				capabilities: { roots: { listChanged: true }, sampling: {} },
				clientInfo: { name: "XiaozhiMCPEndpointClient", version: "1.0.0" },
			},
		},
	},
	{ sends: { jsonrpc: "2.0", method: "notifications/initialized", params: {} } },
	{ sends: { jsonrpc: "2.0", id: `${uuid}_n_2`, method: "tools/list" } },
	{ expects: { id: `${uuid}_n_1`, result: { protocolVersion: "2024-11-05", serverInfo: {} } } },
	{ expects: { id: `${uuid}_n_2`, result: { tools: [{ name: "lamp_000001__self_audio_speaker_set_volume" }] } } },
	{
		sends: {
			jsonrpc: "2.0",
			id: `${uuid}_n_1`,
			method: "tools/call",
			params: { name: "lamp_000001__self_audio_speaker_set_volume", arguments: { volume } },
		},
	},
	{ expects: { id: `${uuid}_n_1`, result: DONE } },
];

/** Two agents, one after the other, on one connection. Neither waits for its first answer before it lists the tools. */
export const AGENTS: readonly Step[] = [...agent("0a1b2c3d-aaaa", 46), ...agent("4e5f6a7b-bbbb", 47)];
