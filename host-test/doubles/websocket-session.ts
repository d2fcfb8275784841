import type { ProtocolError } from "../../src/protocols/protocol-error.js";
import { WebSocketProtocol, type WebSocketProtocolOptions } from "../../src/protocols/websocket_protocol.js";
import { FakeWebSocketClient } from "./fake-clients.js";
import { FakeTimer } from "./fake-timer.js";

const HELLO = '{"type":"hello","transport":"websocket","session_id":"s"}';

/** An MCP message of the backend, whose payload is a word. */
export const mcp = (word: string): string => `{"type":"mcp","payload":"${word}"}`;

/** A WebSocket protocol that connects, its client, and what the application would hear. */
export function connect(options: Partial<WebSocketProtocolOptions> = {}) {
	const log: string[] = [];
	const heard: unknown[] = [];
	const lost: ProtocolError[] = [];
	const timer = new FakeTimer();
	const protocol = new WebSocketProtocol({
		url: "ws://backend:9000/xiaozhi/?a=b",
		token: "t",
		deviceId: "02:00:00:00:00:01",
		clientId: "uuid",
		network: { ws: { io: FakeWebSocketClient } },
		timer,
		log: (line) => log.push(line),
		events: {
			onConnecting() {},
			onSession() {},
			onMcp: (payload) => heard.push(payload),
			onMessage() {},
			onLost: (error) => lost.push(error),
		},
		...options,
	});
	protocol.open();
	return { protocol, timer, client: FakeWebSocketClient.made.at(-1) as FakeWebSocketClient, log, heard, lost };
}

/** The same in a session, with room for 1,000 bytes and nothing written since hello. */
export function inSession(options: Partial<WebSocketProtocolOptions> = {}) {
	const fake = connect(options);
	fake.client.grant(1000);
	fake.client.arrive([HELLO]);
	fake.client.grant(1000);
	fake.client.written.length = 0;
	return fake;
}
