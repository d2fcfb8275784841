import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import mqttPacket, { type IConnectPacket } from "mqtt-packet";
import { listen } from "../support/listen.js";
import { cases } from "../support/scope.js";
import { until } from "../support/until.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";
import { MQTT_GATEWAY, XIAOZHI_SERVER, XIAOZHI_SERVER_UNBOUND } from "./recorded-traffic.js";
import { replay, type Wire } from "./replay.js";

// The firmware gets what other people's backends were seen to send.

/** A broker that is also the backend, and delivers without a subscription, as xiaozhi-mqtt-gateway. */
class MqttPeer implements Wire {
	connect: IConnectPacket | undefined;
	readonly url: string;
	readonly #topic = "devices/p2p/aa_bb";
	readonly #heard: string[] = [];
	#socket: Socket | undefined;

	private constructor(port: number) {
		this.url = `mqtt://127.0.0.1:${port}`;
	}

	static async listen(t: TestContext): Promise<MqttPeer> {
		const server = createServer((socket) => peer.#serve(socket));
		const peer = new MqttPeer(await listen(t, server));
		t.after(() => peer.#socket?.destroy());
		return peer;
	}

	/** Settles when a device is connected. */
	async connected(): Promise<void> {
		await until(() => this.connect !== undefined, "a device is connected");
	}

	say(message: object): void {
		const payload = JSON.stringify(message);
		this.#socket?.write(
			mqttPacket.generate({ cmd: "publish", topic: this.#topic, payload, qos: 0, dup: false, retain: false }),
		);
	}

	async hear(): Promise<string> {
		await until(() => this.#heard.length > 0, "the device says something");
		return this.#heard.shift() as string;
	}

	#serve(socket: Socket): void {
		this.#socket = socket;
		const parser = mqttPacket.parser();
		socket.on("error", () => socket.destroy());
		socket.on("data", (data) => parser.parse(data));
		parser.on("packet", (packet) => {
			if (packet.cmd === "connect") {
				socket.write(mqttPacket.generate({ cmd: "connack", returnCode: 0, sessionPresent: false }));
				this.connect = packet;
			} else if (packet.cmd === "subscribe") {
				socket.write(mqttPacket.generate({ cmd: "suback", messageId: packet.messageId as number, granted: [0] }));
			} else if (packet.cmd === "publish") {
				this.#heard.push(packet.payload.toString());
			}
		});
	}
}

for (const engine of cases(ENGINES)) {
	describe(`recorded backends, firmware on ${engine.kind}`, () => {
		it("xiaozhi-esp32-server lists and calls tools, and gets the error of a failed call", async (t) => {
			const backend = await RawBackend.listen(t);
			const { log } = await startDevice(t, engine, { config: { backend: backend.url } });
			await replay(backend, XIAOZHI_SERVER);
			assert.doesNotMatch(log.join("\n"), /dropped|no session/);
		});

		it("xiaozhi-esp32-server shows the code to a device that is not bound", async (t) => {
			const backend = await RawBackend.listen(t);
			const { device } = await startDevice(t, engine, { config: { backend: backend.url } });
			const shown: string[] = [];
			device.on("screen", ({ message }) => shown.push(message));
			await replay(backend, XIAOZHI_SERVER_UNBOUND);
			await until(() => shown.some((message) => message.includes("246810")), "the code is on the screen");
		});

		it("xiaozhi-mqtt-gateway lists and calls tools before the hello, in the session, and after its goodbye", async (t) => {
			const backend = await MqttPeer.listen(t);
			const topics = { publishTopic: "device-server", subscribeTopic: "devices/p2p/aa_bb" };
			await startDevice(t, engine, { config: { backend: backend.url, clientId: "GID@@@aa_bb@@@aa_bb", ...topics } });
			await backend.connected();
			await replay(backend, MQTT_GATEWAY);
			assert.equal(backend.connect?.will, undefined, "its parser takes the will for credentials");
		});
	});
}
