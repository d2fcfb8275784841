import { mqttTransport } from "../../src/protocols/mqtt-channel.js";
import type { TransportOptions } from "../../src/protocols/transport.js";
import { FakeMqttClient } from "../doubles/fake-clients.js";
import { beforeHello } from "../doubles/fake-protocol.js";
import { connect, optionsFor } from "../doubles/websocket-session.js";
import { equal, given, matches, suite } from "../harness.js";

function mqtt(options: Partial<TransportOptions> = {}) {
	const topics = { publishTopic: "device-server", subscribeTopic: "" };
	const transport = mqttTransport(optionsFor("mqtt://broker", { ...topics, ...options }));
	transport.open({ onOpen() {}, onText() {}, onDropped() {}, onActivity() {}, onClose() {} });
	return { transport, client: FakeMqttClient.made.at(-1) as FakeMqttClient };
}

export default suite("device protocol, as backends of the xiaozhi family speak it", {
	"MCP and text that come before hello are handed on": given(beforeHello, ({ protocol, heard, lost }) => {
		protocol.lastChannel.say({ type: "mcp", payload: { id: 10_000 } });
		protocol.lastChannel.say({ type: "stt", session_id: "not yet known", text: "123456" });
		equal([heard, lost], [[{ mcp: { id: 10_000 } }, "message stt"], []]);
		protocol.send("answer");
		equal(protocol.lastChannel.sent.at(-1), "answer");
		protocol.lastChannel.say({ type: "hello", session_id: "s-1" });
		equal(heard.at(-1), "session s-1");
	}),
	"a request before hello that is too large is rejected by its id": given(beforeHello, ({ protocol, heard }) => {
		protocol.lastChannel.say(`{"type":"mcp","payload":{"jsonrpc":"2.0","id":5,"params":${"[".repeat(40)}`);
		equal(heard, [{ rejected: { id: 5 }, reason: "nested deeper than 32 levels" }]);
	}),
	"a session id that is missing, null or empty means this session": given(beforeHello, ({ protocol, heard, log }) => {
		protocol.lastChannel.say({ type: "hello", session_id: "s-1" });
		heard.length = 0;
		for (const session of [
			{},
			{ session_id: null },
			{ session_id: "" },
			{ session_id: "s-1" },
			{ session_id: "s-2" },
		]) {
			protocol.lastChannel.say({ type: "mcp", ...session, payload: 1 });
		}
		equal(heard.length, 4);
		matches(log.join(), /^message of type mcp for another session: dropped$/);
	}),
	"any session id means this session if hello named none": given(beforeHello, ({ protocol, heard }) => {
		protocol.lastChannel.say({ type: "hello" });
		protocol.lastChannel.say({ type: "mcp", session_id: "x", payload: 1 });
		equal(heard, ["session ", { mcp: 1 }]);
	}),
	"a goodbye that names no session ends this one"() {
		for (const session of [{}, { session_id: null }, { session_id: "" }]) {
			const { protocol, lost } = beforeHello();
			protocol.lastChannel.say({ type: "hello", session_id: "s-1" });
			protocol.lastChannel.say({ type: "goodbye", ...session });
			equal(lost[0]?.error.code, "goodbye");
		}
	},
	"a hello is taken whatever transport it names"() {
		for (const transport of ["udp", "mqtt", "websocket", "anything", undefined, 5, null]) {
			const { protocol, heard } = beforeHello();
			protocol.lastChannel.say({ type: "hello", transport, session_id: "s" });
			equal(heard, ["session s"]);
		}
	},
	"a second hello changes the session id": given(beforeHello, ({ protocol, heard, lost, timer }) => {
		protocol.lastChannel.say({ type: "hello", session_id: "s-1" });
		const timers = timer.size;
		protocol.lastChannel.say({ type: "hello", session_id: "s-2", udp: { port: 1 } });
		equal(timer.size, timers);
		protocol.lastChannel.say({ type: "mcp", session_id: "s-2", payload: 1 });
		equal([heard, lost], [["session s-1", "session s-2", { mcp: 1 }], []]);
		equal([protocol.session?.id, protocol.session?.hello.udp], ["s-2", { port: 1 }]);
	}),
	"binary messages are handed up to a board that has audio, and dropped otherwise"() {
		const frames: number[][] = [];
		const onAudio = (frame: ArrayBuffer) => frames.push([...new Uint8Array(frame)]);
		const { client, heard } = connect({ onAudio });
		client.grant(1000);
		client.arrive([Uint8Array.of(1, 0, 255).buffer], { binary: true });
		client.arrive([Uint8Array.of(2).buffer, Uint8Array.of(3, 0).buffer], { binary: true });
		equal(frames, [
			[1, 0, 255],
			[2, 3, 0],
		]);
		client.arrive(['{"type":"mcp","payload":4}']);
		equal(heard, [4]);
		const deaf = connect();
		deaf.client.grant(1000);
		deaf.client.arrive([Uint8Array.of(1, 0, 255).buffer], { binary: true });
		equal([deaf.lost, deaf.log, frames.length], [[], [], 2]);
	},
	"hello's version on WebSocket is the protocol version that is set"() {
		for (const protocolVersion of [1, 2, 3] as const) {
			const { client } = connect({ protocolVersion });
			client.grant(1000);
			equal(JSON.parse(client.messages[0] as string).version, protocolVersion);
			equal(client.options.headers.get("Protocol-Version"), String(protocolVersion));
		}
	},
	"the broker is given a last will only for this project's topics"() {
		const will = { topic: "xs-mcp/a/up", message: '{"type":"goodbye"}', QoS: 0, retain: false };
		equal(mqtt({ publishTopic: "xs-mcp/a/up" }).client.options.will, will);
		equal("will" in mqtt().client.options, false);
	},
	"a packet to other topics than this project's has at most 8,192 bytes"() {
		equal(mqtt().transport.maxSentBytes, 8_192 - "device-server".length - 9);
		equal(mqtt({ publishTopic: "xs-mcp/a/up" }).transport.maxSentBytes, Number.POSITIVE_INFINITY);
	},
});
