import { mqttTransport } from "../../src/protocols/mqtt-channel.js";
import type { TransportOptions } from "../../src/protocols/transport.js";
import { FakeMqttClient } from "../doubles/fake-clients.js";
import { mcp, openOn, optionsFor } from "../doubles/websocket-session.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

const SUBACK = 9;

function connect(options: Partial<TransportOptions> = {}) {
	const topics = { publishTopic: "up", subscribeTopic: "down" };
	const transport = mqttTransport(optionsFor("mqtt://broker", { ...topics, ...options }));
	return { ...openOn(transport, {}), client: FakeMqttClient.made.at(-1) as FakeMqttClient };
}

function inSession(options: Partial<TransportOptions> = {}) {
	const fake = connect(options);
	fake.client.grant(1000);
	fake.client.options.onControl({ operation: SUBACK, payload: [0] });
	fake.client.arrive(['{"type":"hello","transport":"udp","session_id":"s","udp":{"port":8}}']);
	fake.client.written.length = 0;
	return fake;
}

export default suite("MQTT", {
	"is closed once, however often it is told": given(inSession, ({ protocol, client }) => {
		let closings = 0;
		client.close = () => {
			closings += 1;
		};
		protocol.close();
		protocol.close();
		equal(closings, 1);
	}),
	"connects with its client id and keep-alive"() {
		const { options } = connect({ mqttUsername: "u", mqttPassword: "p" }).client;
		equal(
			[options.host, options.port, options.id, options.user, options.password],
			["broker", 1883, "dev-1", "u", "p"],
		);
		equal(options.keepAlive, 240_000);
		equal("user" in connect().client.options, false);
	},
	"uses 8883 over TLS, and the record for it"() {
		const { options } = connect({
			backend: "mqtts://b",
			network: { mqtts: { io: FakeMqttClient, secure: true } },
		}).client;
		equal([options.port, options.secure], [8883, true]);
		throws(() => connect({ backend: "mqtts://b" }), /^backend: .* mqtts:/);
	},
	"subscribes first, once, and says hello when the broker has taken it": given(connect, ({ client }) => {
		client.grant(1000);
		client.grant(1000);
		equal(client.operations, [{ operation: 8, items: [{ topic: "down", QoS: 0 }] }]);
		equal(client.written, []);
		client.options.onControl({ operation: SUBACK, payload: [0] });
		const { type, version, transport } = JSON.parse(client.messages[0] as string);
		equal([type, version, transport], ["hello", 3, "udp"]);
		equal([client.written[0]?.options.topic, client.written[0]?.options.QoS], ["up", 0]);
	}),
	"sends PINGREQ, if the connection takes it, and logs that it does not"() {
		const log: string[] = [];
		const options = { publishTopic: "up", subscribeTopic: "", log: (line: string) => void log.push(line) };
		const transport = mqttTransport(optionsFor("mqtt://broker", options));
		const events = { onOpen() {}, onText() {}, onDropped() {}, onActivity() {}, onClose() {} };
		const channel = transport.open(events);
		const client = FakeMqttClient.made.at(-1) as FakeMqttClient;
		client.grant(1000);
		channel.ping();
		equal(client.operations, [{ operation: 12 }]);
		client.write = () => {
			throw new Error("would block");
		};
		channel.ping();
		equal(log, ["could not send MQTT 12: Error: would block"]);
	},
	"closes its client at once, but while that reads only afterwards": given(connect, (early) => {
		early.protocol.close();
		equal(early.client.closed, true);
		const { client, protocol, heard } = connect();
		client.grant(1000);
		client.options.onControl({ operation: SUBACK, payload: [0] });
		Object.defineProperty(heard, "push", { value: () => protocol.close() });
		client.arrive([mcp("closes")]);
		equal(client.closed, false);
	}),
	"understands a client that tells the operation first": given(connect, ({ client }) => {
		client.grant(1000);
		client.options.onControl(SUBACK, { operation: SUBACK, payload: [0] });
		equal(client.messages.length, 1);
	}),
	"says hello at once if it has nothing to subscribe to"() {
		const { client } = connect({ subscribeTopic: "" });
		client.grant(1000);
		equal([client.operations, client.messages.length], [[], 1]);
	},
	"takes a message that comes before the broker has answered the subscription, and says hello then"() {
		const { client, heard } = connect();
		client.grant(1000);
		client.arrive(['{"type":"mcp","payload":5}']);
		equal([heard, client.messages.length], [[5], 1]);
		client.options.onControl({ operation: SUBACK, payload: [0] });
		equal(client.messages.length, 1);
	},
	"rejects calls of tools that may be retained, until the backend's hello"() {
		const call = '{"type":"mcp","payload":{"id":9,"method":"tools/call"}}';
		const batch = '{"type":"mcp","payload":[{"id":9,"method":"tools/call"}]}';
		const { client, heard } = connect();
		client.grant(1000);
		client.arrive([call]);
		client.options.onControl({ operation: SUBACK, payload: [0] });
		client.arrive([call]);
		client.arrive([batch]);
		const reason = "command of type mcp before the backend's hello: dropped, it may be a retained message";
		const rejected = { id: 9, method: "tools/call" };
		equal(
			heard,
			[rejected, rejected, rejected].map((each) => ({ rejected: each, reason })),
		);
		heard.length = 0;
		client.arrive(['{"type":"mcp","payload":{"id":1,"method":"initialize"}}']);
		client.arrive(['{"type":"hello","transport":"udp","session_id":"s"}']);
		client.arrive([call]);
		client.arrive([batch]);
		equal(heard.length, 3);
	},
	"takes commands from the first moment if it has subscribed to nothing"() {
		const { client, heard } = connect({ subscribeTopic: "" });
		client.grant(1000);
		client.arrive(['{"type":"mcp","payload":{"id":9,"method":"tools/call"}}']);
		equal(heard.length, 1);
	},
	"ends the attempt when the broker rejects the subscription": given(connect, ({ client, lost }) => {
		client.grant(1000);
		client.options.onControl({ operation: SUBACK, payload: [0x80] });
		equal(lost[0]?.code, "connection-failed");
		matches(lost[0]?.message ?? "", /down/);
	}),
	"publishes a long message in parts, and nothing between them": given(inSession, ({ protocol, client }) => {
		const texts = ["x".repeat(3000), "short", "日本語".repeat(200)];
		for (const text of texts) {
			protocol.send(text);
		}
		for (let turn = 0; turn < 60; turn += 1) {
			client.grant(150);
		}
		ok(client.messages.join("|") === texts.join("|"), `${client.messages.map(({ length }) => length)}`);
		equal(client.written.filter(({ options }) => options.topic === "up").length, texts.length);
	}),
	"says goodbye when it closes, and does not answer one": given(inSession, ({ protocol, client }) => {
		protocol.close();
		equal(JSON.parse(client.messages[0] as string), { type: "goodbye", session_id: "s" });
		const other = inSession();
		other.client.arrive(['{"type":"goodbye","session_id":"s"}']);
		equal([other.client.messages, other.lost[0]?.code, other.client.closed], [[], "goodbye", false]);
	}),
	"leaves it to keep-alive to tell a dead broker": given(inSession, ({ timer, lost }) => {
		timer.pass(1_000_000);
		equal(lost, []);
	}),
});
