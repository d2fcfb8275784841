import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backendBlocks } from "../src/devices/bootstrap/bootstrap-answer.js";

function addressesFor(addresses: Parameters<typeof backendBlocks>[0], hostname: string): unknown[] {
	const { websocket, mqtt } = backendBlocks(addresses, hostname, { id: "lamp", token: undefined });
	return [(websocket as { url?: string })?.url, (mqtt as { endpoint?: string })?.endpoint];
}

const listen = (address: string, secure = false): Parameters<typeof backendBlocks>[0] => ({
	websocket: { scheme: secure ? "wss" : "ws", address, port: 8765 },
	mqtt: { scheme: secure ? "mqtts" : "mqtt", address, port: 1883 },
});

describe("where the bootstrap tells a device to connect", () => {
	it("is the hostname by which the device knows a gateway that listens on every address", () => {
		assert.deepEqual(addressesFor(listen("0.0.0.0"), "192.168.1.5"), ["ws://192.168.1.5:8765/", "192.168.1.5:1883"]);
		assert.deepEqual(addressesFor(listen("::"), "[fe80::1]"), ["ws://[fe80::1]:8765/", "[fe80::1]:1883"]);
	});

	it("is the address on which the gateway listens", () => {
		assert.deepEqual(addressesFor(listen("10.0.0.2"), "gateway.local"), ["ws://10.0.0.2:8765/", "10.0.0.2:1883"]);
		assert.deepEqual(addressesFor(listen("::1"), "localhost"), ["ws://[::1]:8765/", "[::1]:1883"]);
	});

	it("is nowhere if only this machine can connect, and the device is on another", () => {
		assert.deepEqual(addressesFor(listen("127.0.0.1"), "192.168.1.5"), [undefined, undefined]);
		assert.deepEqual(addressesFor({}, "192.168.1.5"), [undefined, undefined]);
	});

	it("has the scheme of MQTT if the port alone would not mean TLS", () => {
		assert.deepEqual(addressesFor(listen("10.0.0.2", true), "x"), ["wss://10.0.0.2:8765/", "mqtts://10.0.0.2:1883"]);
		const usual = { mqtt: { scheme: "mqtts", address: "10.0.0.2", port: 8883 } };
		assert.deepEqual(addressesFor(usual, "x"), [undefined, "10.0.0.2:8883"]);
	});
});
