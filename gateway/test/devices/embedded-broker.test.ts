import assert from "node:assert/strict";
import { type EventEmitter, once } from "node:events";
import { Socket } from "node:net";
import { describe, it } from "node:test";
import mqtt from "mqtt";
import { EmbeddedBroker } from "../../src/devices/embedded-broker.js";

describe("the gateway's own broker", () => {
	it("sends small packets at once, without waiting for an acknowledgement (TCP_NODELAY)", async (t) => {
		const events = { onMessage() {}, onConnected() {}, onDisconnected() {}, onBrokerLost() {}, onRejected() {} };
		const setNoDelay = t.mock.method(Socket.prototype, "setNoDelay");
		const broker = await EmbeddedBroker.listen({ port: 0 }, events);
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
});
