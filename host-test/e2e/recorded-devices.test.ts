import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import mqtt from "mqtt";
import { WebSocket } from "ws";
import { type Gateway, MqttDevices, type Server, type ServerTool, WebSocketDevices } from "../../gateway/src/index.js";
import { openGateway } from "../../gateway/test/support/gateway.js";
import { openChannels } from "../../gateway/test/support/udp-channels.js";
import { until } from "../support/until.js";
import { type DeviceStep, PY_XIAOZHI_MQTT, PY_XIAOZHI_WEBSOCKET } from "./recorded-traffic.js";
import { replay, type Wire } from "./replay.js";

// The gateway gets what other people's devices were seen to send.

const ID = "02:00:00:00:2b:01";

/** A list that waits for its next element. */
class Heard {
	readonly #messages: string[] = [];

	add(message: Buffer): void {
		this.#messages.push(message.toString());
	}

	async next(): Promise<string> {
		await until(() => this.#messages.length > 0, "the gateway says something");
		return this.#messages.shift() as string;
	}
}

async function connectWebSocket(t: TestContext, gateway: Gateway): Promise<Wire> {
	const devices = new WebSocketDevices(gateway.servers, { port: 0 });
	const url = `ws://127.0.0.1:${await devices.listen()}/`;
	t.after(() => devices.close());
	const headers = { authorization: "Bearer t", "device-id": ID, "client-id": "uuid", "protocol-version": "1" };
	const socket = new WebSocket(url, { headers });
	t.after(() => socket.terminate());
	const heard = new Heard();
	socket.on("message", (data: Buffer) => heard.add(data));
	await once(socket, "open");
	return {
		say: (message) => socket.send(Buffer.isBuffer(message) ? message : JSON.stringify(message)),
		hear: () => heard.next(),
	};
}

async function connectMqtt(t: TestContext, gateway: Gateway): Promise<Wire> {
	const { devices, port } = await MqttDevices.listen(
		gateway.servers,
		{ port: 0 },
		await openChannels(t, gateway.servers),
	);
	t.after(() => devices.close());
	const access = { clientId: ID, username: "device", password: "secret", reconnectPeriod: 0 };
	const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, access);
	t.after(() => client.end(true));
	const heard = new Heard();
	client.on("message", (_topic, payload) => heard.add(payload));
	await client.subscribeAsync(`xs-mcp/${ID}/down`, { qos: 1 });
	return {
		say: (message) => client.publish(`xs-mcp/${ID}/up`, JSON.stringify(message)),
		hear: () => heard.next(),
	};
}

/** Calls both tools of the recording when the device is online. */
async function callTools(gateway: Gateway): Promise<void> {
	await until(() => gateway.servers.find(ID)?.online === true, "the device is online");
	const server = gateway.servers.find(ID) as Server;
	const call = (name: string, args: Record<string, unknown>) =>
		server.calls.call("somebody", server.tools.find((tool) => tool.name === name) as ServerTool, args);
	const { content } = await call("get_weather", { city: "x" });
	assert.deepEqual(content, [{ type: "text", text: '{"city": "x", "condition": "晴朗"}' }]);
	await assert.rejects(call("take_photo", {}), /Tool disabled: take_photo/);
}

const DEVICES: readonly [name: string, connect: typeof connectMqtt, steps: readonly DeviceStep[]][] = [
	["py-xiaozhi over WebSocket", connectWebSocket, PY_XIAOZHI_WEBSOCKET],
	["py-xiaozhi over MQTT", connectMqtt, PY_XIAOZHI_MQTT],
];

describe("recorded devices", () => {
	for (const [name, connect, steps] of DEVICES) {
		it(`${name} is discovered, and its tools are called`, async (t) => {
			const gateway = await openGateway(t);
			const wire = await connect(t, gateway);
			await Promise.all([replay(wire, steps), callTools(gateway)]);
			const names = gateway.servers.find(ID)?.tools.map((tool) => tool.name);
			assert.deepEqual(names, ["music_player.get_status", "get_weather", "take_photo"]);
		});
	}
});
