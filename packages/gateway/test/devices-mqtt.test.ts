import assert from "node:assert/strict";
import { type EventEmitter, once } from "node:events";
import { createConnection, createServer, Socket } from "node:net";
import { describe, it } from "node:test";
import mqtt from "mqtt";
import mqttPacket from "mqtt-packet";
import { listen, testWith, until, untilClosed } from "../../../host-test/support/testing.js";
import { openEmbeddedBroker } from "../src/devices/embedded-broker.js";
import { startBroker } from "../testing/broker.js";
import { CONVERSATION, callLamp, connectMqtt, familyHello } from "../testing/family.js";
import { LAMP } from "../testing/gateway.js";
import { startProgram } from "../testing/program.js";

describe("a device over MQTT", () => {
	it("loses its connection to the broker when its token is removed", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		await started.tokens.add({ name: "others", kind: "device" });
		const password = await started.tokens.add({ name: "lamp", kind: "device" });
		const options = { clientId: LAMP, username: "lamp", password, reconnectPeriod: 0 };
		const client = await mqtt.connectAsync(started.gateway.urls.mqtt as string, options);
		t.after(() => client.endAsync(true));
		client.on("error", () => {});
		const closed = once(client as never, "close");
		await started.tokens.remove("lamp");
		await closed;
	});

	it("that speaks MQTT 5 is rejected with its id, the reason and the cure, and is told the reason", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		const options = { clientId: LAMP, protocolVersion: 5, reconnectPeriod: 0 } as const;
		await assert.rejects(mqtt.connectAsync(started.gateway.urls.mqtt as string, options), /[Pp]rotocol [Vv]ersion/);
		const reason = `${LAMP}: MQTT 5 is not supported: set the device to MQTT 3.1.1, or use a broker with MQTT 5 (brokerUrl)`;
		await until(() => started.log().includes(reason), reason);
	});

	it("is disconnected when more of its QoS 2 messages wait for PUBREL than the broker keeps", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		const socket = createConnection(Number(new URL(started.gateway.urls.mqtt as string).port), "127.0.0.1");
		socket.write(
			mqttPacket.generate({
				cmd: "connect",
				protocolId: "MQTT",
				protocolVersion: 4,
				clean: false,
				clientId: LAMP,
				keepalive: 0,
			}),
		);
		socket.resume();
		const closed = untilClosed(socket);
		for (let messageId = 1; messageId <= 300; messageId += 1) {
			const topic = `xs-mcp/${LAMP}/up`;
			socket.write(
				mqttPacket.generate({ cmd: "publish", topic, payload: "{}", qos: 2, messageId, dup: false, retain: false }),
			);
		}
		await closed;
		assert.match(started.log(), /inbound QoS 2 messages|queue limit reached/);
	});
});

const ID = "aa:bb:cc:00:00:03";

async function start(t: Parameters<typeof startProgram>[0]) {
	const started = await startProgram(t, { mqtt: true });
	return { started, ...(await connectMqtt(t, started.gateway.urls.mqtt as string, { clientId: ID })) };
}

const itStarted = testWith(start);

describe("a device of the family over MQTT", () => {
	for (const transport of ["udp", undefined]) {
		it(`gets a UDP channel that both firmwares accept if its hello has the transport ${transport}`, async (t) => {
			const { started, client, mcp } = await start(t);
			await client.subscribeAsync(`xs-mcp/${ID}/down`, { qos: 1 });
			mcp.say(familyHello(transport, 3));
			assert.equal(await callLamp(started, ID), "true");
			const { transport: answered, udp, session_id: sessionId } = mcp.first("hello") as never as Hello;
			assert.equal(answered, "udp");
			assert.equal(typeof udp.server, "string");
			assert.ok(Number.isInteger(udp.port) && udp.port > 0 && udp.port < 65_536);
			assert.match(udp.key, /^[0-9a-f]{32}$/);
			assert.match(udp.nonce, /^[0-9a-f]{32}$/);
			assert.match(sessionId, /./);
		});
	}

	itStarted("gets the transport that it names if it has no UDP channel", async ({ started, mcp }) => {
		mcp.say(familyHello("mqtt"));
		assert.equal(await callLamp(started, ID), "true");
		const hello = mcp.first("hello");
		assert.deepEqual([hello?.transport, hello?.udp], ["mqtt", undefined]);
	});

	itStarted("may say what belongs to a conversation, with or without its session id", async ({ started, mcp }) => {
		mcp.say(familyHello("udp"));
		for (const sessionId of ["", undefined]) {
			mcp.sessionId = sessionId;
			CONVERSATION.forEach((message) => void mcp.say(message));
			assert.equal(await callLamp(started, ID), "true");
		}
		assert.doesNotMatch(started.log(), /dropped|rejected/);
	});

	itStarted("can be called though it says hello only when a conversation begins", async ({ started, mcp }) => {
		assert.equal(await callLamp(started, ID), "true");
		assert.equal(mcp.first("hello"), undefined);
	});

	itStarted("can be called though it does not stop talking of an earlier session", async ({ started, mcp }, t) => {
		mcp.sessionId = "of-yesterday";
		const timer = setInterval(() => mcp.say({ type: "listen", state: "start", mode: "auto" }), 100);
		t.after(() => clearInterval(timer));
		assert.equal(await callLamp(started, ID), "true");
	});

	it("is served, whatever another broker has retained when the gateway starts", async (t) => {
		const packets = { connect: { cmd: "connack", returnCode: 0 }, subscribe: { cmd: "suback", granted: [1] } } as const;
		const topic = `xs-mcp/${ID}/up`;
		const retained = mqttPacket.generate({
			cmd: "publish",
			topic,
			payload: '{"type":"listen","session_id":"x"}',
			qos: 0,
			dup: false,
			retain: true,
		});
		const broker = createServer((socket) => {
			const parser = mqttPacket.parser();
			parser.on("packet", ({ cmd, messageId }) => {
				if (cmd === "connect" || cmd === "subscribe") {
					const answer = mqttPacket.generate({ ...packets[cmd], messageId } as never);
					socket.write(cmd === "subscribe" ? Buffer.concat([answer, retained]) : answer);
				}
			});
			socket.on("data", (bytes) => parser.parse(bytes));
		});
		const started = await startProgram(t, { brokerUrl: `mqtt://127.0.0.1:${await listen(t, broker)}` });
		assert.doesNotMatch(started.log(), /cannot/);
	});

	it("is served at a broker without MQTT 5, and a warning says that MCP over MQTT is not available", async (t) => {
		const brokerUrl = await startBroker(t);
		const started = await startProgram(t, { brokerUrl, mcpOverMqtt: true });
		const line = started
			.log()
			.split("\n")
			.find((each) => each.includes("mcpOverMqtt: not available until the gateway starts again: "));
		assert.match(line ?? "", /"level":"warn"/);
		const device = await connectMqtt(t, brokerUrl, { clientId: ID });
		await device.client.subscribeAsync(`xs-mcp/${ID}/down`);
		device.mcp.say(familyHello("udp"));
		assert.equal(await callLamp(started, ID), "true");
	});

	it("is left alone after its goodbye through another broker", async (t) => {
		const brokerUrl = await startBroker(t);
		const started = await startProgram(t, { brokerUrl });
		const [lamp, other] = await Promise.all(
			[ID, "other"].map(async (clientId) => {
				const device = await connectMqtt(t, brokerUrl, { clientId });
				await device.client.subscribeAsync(`xs-mcp/${clientId}/down`);
				return device.mcp;
			}),
		);
		lamp?.say(familyHello("udp"));
		assert.equal(await callLamp(started, ID), "true");
		const offline = once(started.gateway.servers, "disconnected");
		lamp?.say({ type: "goodbye", session_id: lamp.first("hello")?.session_id });
		await offline;
		// An answer to what the gateway asked before it knew of the goodbye.
		lamp?.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 7, result: {} } });
		// This one gets a session without a hello, later than the other would.
		other?.say({ type: "listen", state: "start", mode: "auto" });
		assert.equal(await callLamp(started, "other"), "true");
		assert.equal(lamp?.received.filter(({ payload }) => payload?.method === "initialize").length, 1);
	});

	itStarted("can be called during a conversation, and after its goodbye", async ({ started, mcp }) => {
		assert.equal(await callLamp(started, ID), "true");
		mcp.say(familyHello("udp"));
		await until(() => mcp.first("hello") !== undefined, "the hello is answered");
		mcp.sessionId = mcp.first("hello")?.session_id as string;
		assert.equal(await callLamp(started, ID), "true");
		const offline = once(started.gateway.servers, "disconnected");
		mcp.say({ type: "goodbye" });
		await offline;
		assert.equal(await callLamp(started, ID), "true");
	});
});

interface Hello {
	readonly transport: string;
	readonly session_id: string;
	readonly udp: { readonly server: string; readonly port: number; readonly key: string; readonly nonce: string };
}

it("the gateway's own broker sends small packets at once, without waiting for an acknowledgement (TCP_NODELAY)", async (t) => {
	const events = { onMessage() {}, onConnected() {}, onDisconnected() {}, onBrokerLost() {}, onRejected() {} };
	const setNoDelay = t.mock.method(Socket.prototype, "setNoDelay");
	const broker = await openEmbeddedBroker({ port: 0 }, events);
	t.after(() => broker.close());
	const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, { clientId: "lamp" });
	t.after(() => client.endAsync());
	const [accepted] = setNoDelay.mock.calls.filter(({ this: socket }) => (socket as Socket).localPort === broker.port);
	assert.deepEqual(accepted?.arguments, [true]);
	await client.subscribeAsync("xs-mcp/lamp/down");
	broker.send("lamp", "on");
	const [topic, payload] = await once(client as unknown as EventEmitter, "message");
	assert.deepEqual([topic, String(payload)], ["xs-mcp/lamp/down", "on"]);
});
