import { readConfig } from "../../src/core/config.js";
import type { ProtocolError } from "../../src/protocols/envelope.js";
import { Protocol, type ProtocolOptions } from "../../src/protocols/protocol.js";
import type { Transport, TransportOptions } from "../../src/protocols/transport.js";
import { webSocketTransport } from "../../src/protocols/websocket-channel.js";
import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";
import { FakeTimer } from "./fake-timer.js";

const HELLO = '{"type":"hello","transport":"websocket","session_id":"s"}';

export const mcp = (word: string): string => `{"type":"mcp","payload":"${word}"}`;

type Options = Partial<TransportOptions & Pick<ProtocolOptions, "backoff" | "onAudio">>;

export function openOn(transport: Transport, options: Partial<ProtocolOptions>) {
	const heard: unknown[] = [];
	const lost: ProtocolError[] = [];
	const timer = new FakeTimer();
	const protocol = new Protocol(transport, {
		timer,
		log() {},
		events: {
			onConnecting() {},
			onSession() {},
			receiver: {
				receive: (payload) => heard.push(payload),
				reject: (payload, reason) => heard.push({ rejected: payload, reason }),
			},
			onOpen() {},
			onMessage() {},
			onLost: (error) => lost.push(error),
		},
		...options,
	});
	protocol.open();
	return { protocol, timer, heard, lost };
}

export function connect(options: Options = {}) {
	const messages: string[] = [];
	const log = (line: string): number => messages.push(line);
	const transport = webSocketTransport(optionsFor("ws://backend:9000/xiaozhi/?a=b", { token: "t", log, ...options }));
	const { backoff, onAudio } = options;
	const opened = openOn(transport, { log, ...(onAudio && { onAudio }), ...(backoff && { backoff }) });
	return { ...opened, client: FakeWebSocketClient.made.at(-1) as FakeWebSocketClient, log: messages };
}

/** The same in a session, with room for 1,000 bytes and nothing written since hello. */
export function inSession(options: Options = {}) {
	const fake = connect(options);
	fake.client.grant(1000);
	fake.client.arrive([HELLO]);
	fake.client.grant(1000);
	fake.client.written.length = 0;
	return fake;
}

/** The options of a transport to this backend, as the firmware makes them of its settings. */
export function optionsFor(backend: string, options: Partial<TransportOptions>): TransportOptions {
	return {
		...readConfig({ built: { backend, clientId: "dev-1" }, settings: undefined }, ""),
		deviceId: "02:00:00:00:00:01",
		uuid: "uuid",
		network: { ws: { io: FakeWebSocketClient }, mqtt: { io: FakeMqttClient } },
		maxMessageBytes: 65_536,
		maxQueuedBytes: 65_536,
		log() {},
		...options,
	};
}
