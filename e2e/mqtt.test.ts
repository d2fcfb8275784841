import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Aedes } from "aedes";
import mqtt, { type MqttClient } from "mqtt";
import mqttPacket from "mqtt-packet";
import type { Connection } from "xs-mcp-gateway";
import { nextSession } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../host-test/support/call-tool.js";
import { cases, IS_FULL } from "../host-test/support/scope.js";
import { listen, testWith, until, untilClosed } from "../host-test/support/testing.js";
import { ALL_TOOLS } from "../host-test/support/tool-counts.js";
import { ENGINE, ENGINES, openOverMqtt, openThroughMosquitto, startDevice } from "./fixtures.js";
import { whyNoMosquitto } from "./mosquitto.js";
import { MQTT_GATEWAY, replay } from "./recorded-traffic.js";

const itOverMqtt = testWith(openOverMqtt);

interface Status {
	readonly audio_speaker: unknown;
}

async function handMade(t: TestContext, config: { publishTopic?: string; subscribeTopic?: string } = {}) {
	const { publishTopic = "device-server", subscribeTopic = "devices/p2p/dev-1" } = config;
	const aedes = await Aedes.createBroker();
	const url = `mqtt://127.0.0.1:${await listen(t, createServer(aedes.handle))}`;
	const client: MqttClient = await mqtt.connectAsync(url);
	await client.subscribeAsync(publishTopic, { qos: 1 });
	t.after(async () => {
		client.end(true);
		await new Promise<void>((resolve) => aedes.close(resolve));
	});
	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	const inbox: any[] = [];
	client.on("message", (_topic, payload) => inbox.push(JSON.parse(payload.toString())));
	const hear = async () => {
		await until(() => inbox.length > 0, "the device says something");
		return inbox.shift();
	};
	return {
		aedes,
		url,
		config: { backend: url, clientId: "dev-1", publishTopic, subscribeTopic },
		hear,
		say: (message: object | string | Buffer, qos: 0 | 1 = 0) =>
			client.publishAsync(
				subscribeTopic,
				typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message),
				{ qos },
			),
		async answer() {
			for (;;) {
				const { type, payload } = await hear();
				if (type === "mcp" && payload.method === undefined) {
					return payload;
				}
			}
		},
	};
}

type HandMade = Awaited<ReturnType<typeof handMade>>;

async function greet(backend: HandMade, transport = "udp"): Promise<Record<string, unknown>> {
	const hello = await backend.hear();
	await backend.say({
		type: "hello",
		transport,
		session_id: "s-1",
		udp: { server: "127.0.0.1", port: 9, key: "k", nonce: "n" },
	});
	return hello;
}

for (const engine of cases(ENGINES)) {
	describe(`MQTT, firmware on ${engine.kind}`, () => {
		it("talks to a hand-made backend, hello to goodbye", async (t) => {
			const backend = await handMade(t);
			await startDevice(t, engine, { config: backend.config });
			// An engine with a microphone also has audio.
			const { features, ...hello } = await greet(backend);
			assert.equal((features as { mcp?: boolean }).mcp, true);
			assert.deepEqual(hello, {
				type: "hello",
				version: 3,
				transport: "udp",
				audio_params: { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 },
				max_message_bytes: 65_536,
			});
			await backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 1, method: "initialize", params: {} } }, 1);
			assert.equal((await backend.answer()).result.protocolVersion, "2024-11-05");
			await backend.say({
				type: "mcp",
				session_id: "s-1",
				payload: {
					jsonrpc: "2.0",
					id: "x",
					method: "tools/call",
					params: { name: "self.audio_speaker.set_volume", arguments: { volume: 9 } },
				},
			});
			assert.deepEqual(await backend.answer(), {
				jsonrpc: "2.0",
				id: "x",
				result: { content: [{ type: "text", text: "true" }], isError: false },
			});
			const connections: unknown[] = [];
			backend.aedes.on("client", ({ id }) => connections.push(id));
			await backend.say({ type: "goodbye", session_id: "s-1" });
			assert.equal((await greet(backend)).type, "hello", "the next session");
			assert.deepEqual(connections, [], "on the same connection");
		});

		it("answers xiaozhi-mqtt-gateway before the hello, in the session, and after its goodbye", async (t) => {
			const backend = await handMade(t);
			const subscribed = once(backend.aedes as never, "subscribe");
			await startDevice(t, engine, { config: backend.config });
			const [, { will }] = await subscribed;
			assert.equal(will, undefined, "its parser takes the will for credentials");
			const hear = async () => JSON.stringify(await backend.hear());
			await replay({ say: (message) => void backend.say(message), hear }, MQTT_GATEWAY);
		});

		it("leaves a last will for the broker to publish", async (t) => {
			const backend = await handMade(t, { publishTopic: "xs-mcp/dev-1/up" });
			const { device } = await startDevice(t, engine, { config: backend.config });
			await greet(backend);
			device.stop();
			assert.deepEqual(
				await backend.hear().then((message) => (message.type === "goodbye" ? message : backend.hear())),
				{ type: "goodbye" },
			);
		});

		it("takes long messages in parts, rejects one that is too long, and keeps its session", async (t) => {
			const backend = await handMade(t);
			const { log } = await startDevice(t, engine, { config: backend.config });
			await greet(backend);
			const id = "日本語😀".repeat(200);
			const params = { words: id.repeat(9) };
			await backend.say({ type: "mcp", payload: { jsonrpc: "2.0", params, id, method: "ping" } }, 1);
			assert.equal((await backend.answer()).id, id);
			await backend.say("x".repeat(70_000));
			await backend.say(randomBytes(300));
			await backend.say("{");
			await backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 2, method: "ping" } });
			assert.equal((await backend.answer()).id, 2);
			assert.match(log.join("\n"), /message dropped: 70000 bytes \(limit 65536\)/);
		});

		it("survives a broker that sends nonsense, and tries again", async (t) => {
			const connack = mqttPacket.generate({ cmd: "connack", returnCode: 0, sessionPresent: false });
			const replies = [
				Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
				Buffer.concat([connack, Buffer.from([0x30, 0x00, 0xf0, 0x01])]),
				mqttPacket.generate({ cmd: "connack", returnCode: 5, sessionPresent: false }),
			];
			let attempts = 0;
			const server = createServer((socket) => {
				socket.on("error", () => {});
				socket.once("data", () => socket.write(replies[attempts++ % replies.length] as Buffer));
			});
			const { log } = await startDevice(t, engine, {
				config: { backend: `mqtt://127.0.0.1:${await listen(t, server)}` },
			});
			await until(() => attempts >= 3, "three attempts");
			assert.ok(log.filter((line) => line.includes("next attempt")).length >= 2, log.join("\n"));
		});
	});
}

describe("the gateway's broker", () => {
	itOverMqtt("disconnects a client that misbehaves, and keeps serving the others", async ({ gateway, config }, t) => {
		const connected = nextSession(gateway.servers);
		await startDevice(t, ENGINE, { config });
		const { connection: device } = await connected;
		const rejected: string[] = [];
		gateway.servers.on("rejected", (description) => rejected.push(description));
		const connect = mqttPacket.generate({
			cmd: "connect",
			protocolId: "MQTT",
			protocolVersion: 4,
			clean: true,
			clientId: "bad",
			keepalive: 0,
			username: "maker",
			password: Buffer.from("secret"),
		});
		const attacks = [
			randomBytes(2000),
			Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]),
			Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80, 0x01]),
			Buffer.from([0x30, 0x05]),
			Buffer.concat([connect, randomBytes(500)]),
			Buffer.concat([connect, Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])]),
			Buffer.concat([connect, connect]),
		];
		for (const attack of attacks) {
			const socket = createConnection(Number(config.backend.split(":")[2]), "127.0.0.1");
			socket.write(attack);
			await Promise.race([untilClosed(socket), new Promise((resolve) => setTimeout(resolve, 200))]);
			socket.destroy();
			await device.ping();
		}
		assert.match(rejected.join("\n"), /too large/);
		assert.equal(gateway.servers.connections.length, 1);
	});

	itOverMqtt("lets a device reach only the gateway", async ({ gateway, config }, t) => {
		const connected = nextSession(gateway.servers);
		await startDevice(t, ENGINE, { config: { ...config, clientId: "victim" } });
		const { connection: device } = await connected;
		const spy = await mqtt.connectAsync(config.backend, {
			clientId: "spy",
			username: "maker",
			password: "secret",
			reconnectPeriod: 0,
		});
		t.after(() => spy.end(true));
		spy.on("error", () => {});
		const overheard: string[] = [];
		spy.on("message", (topic) => overheard.push(topic));
		await assert.rejects(spy.subscribeAsync("#"));
		spy.publish("xs-mcp/victim/down", '{"type":"goodbye"}');
		await device.ping();
		await callTool(device, "self.get_device_status");
		assert.deepEqual(overheard, []);
		assert.equal(device.isOpen, true);
	});

	itOverMqtt("replaces the session of a device that connects a second time", async ({ gateway, config }, t) => {
		const connected = nextSession(gateway.servers);
		const first = await startDevice(t, ENGINE, { config: { ...config, clientId: "twin" } });
		const { connection: before } = await connected;
		const again = nextSession(gateway.servers);
		first.device.on("exit", () => assert.fail("the first must not crash"));
		await startDevice(t, ENGINE, { config: { ...config, clientId: "twin" } });
		await until(() => first.log.some((line) => line.includes("next attempt in")), "the first is replaced");
		first.device.stop();
		const { connection: after } = await again;
		assert.equal(before.isOpen, false);
		assert.equal(gateway.servers.get("twin")?.connection, after);
		await after.ping();
		assert.equal(gateway.servers.connections.length, 1);
	});

	if (IS_FULL) {
		itOverMqtt("serves 200 devices, lists and calls each once, and mixes none up", async ({ gateway, config }, t) => {
			const ids = Array.from({ length: 200 }, (_, at) => `many-${at}`);
			for (let at = 0; at < ids.length; at += 20) {
				await Promise.all(
					ids.slice(at, at + 20).map((clientId) => startDevice(t, ENGINE, { config: { ...config, clientId } })),
				);
			}
			const isOnline = ({ online }: { online: boolean }): boolean => online;
			await until(() => gateway.servers.all.filter(isOnline).length === ids.length, "all are online");
			const sessionOf = (clientId: string): Connection => gateway.servers.find(clientId)?.connection as Connection;
			await Promise.all(
				ids.map(async (clientId, at) => {
					const device = sessionOf(clientId);
					assert.equal((await device.list("tools")).length, ALL_TOOLS);
					await callTool(device, "self.audio_speaker.set_volume", { volume: at % 101 });
				}),
			);
			for (const [at, clientId] of ids.entries()) {
				const { structuredContent } = await callTool(sessionOf(clientId), "self.get_device_status");
				assert.deepEqual((structuredContent as Status).audio_speaker, { volume: at % 101 });
			}
		});
	}
});

describe("another broker that stops and starts again", { skip: whyNoMosquitto }, () => {
	it("fails the call under way with a clear error, and the device reconnects by itself", async (t) => {
		const { broker, gateway, config } = await openThroughMosquitto(t);
		const connected = nextSession(gateway.servers);
		await startDevice(t, ENGINE, { config });
		const { connection: device } = await connected;
		const silent = createServer(() => {});
		const call = callTool(device, "self.screen.snapshot", {
			url: `http://127.0.0.1:${await listen(t, silent)}/`,
		});
		await device.ping();
		const back = nextSession(gateway.servers);
		const failed = assert.rejects(call, { code: "server-disconnected", message: /broker/ });
		await broker.kill();
		await failed;
		await broker.run();
		assert.equal((await callTool((await back).connection, "self.get_device_status")).isError, false);
	});
});
