import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { describe, it } from "node:test";
import { readConfiguration } from "../../src/config/configuration.js";
import type { SettingName } from "../../src/config/settings.js";
import { urlForDevice } from "../../src/devices/device-address.js";
import { WireDevice } from "../support/gateway.js";
import { visionOf } from "../support/pictures.js";
import { startProgram } from "../support/program.js";

const CLIENTS = "http://127.0.0.1:8766/mcp";

const urlWith = (flags: Partial<Record<SettingName, unknown>>, gatewayUrl?: string, clientsUrl = CLIENTS) =>
	urlForDevice(gatewayUrl === undefined ? {} : { gatewayUrl }, readConfiguration({ flags }), clientsUrl);

describe("the address at which a device reaches the gateway over HTTP", () => {
	it("is that of its own WebSocket", async (t) => {
		const started = await startProgram(t);
		const { url } = visionOf(await WireDevice.connect(t, started));
		assert.equal(new URL(url).host, new URL(started.deviceUrl).host);
	});

	it("is publicUrl if that is set", async (t) => {
		const started = await startProgram(t, { publicUrl: "https://gateway.example/devices/" });
		const { url } = visionOf(await WireDevice.connect(t, started));
		assert.equal(url, "https://gateway.example/devices/vision/explain");
	});

	it("is httpAddress if the device is connected over MQTT", () => {
		assert.equal(urlWith({ mqtt: true }), "http://127.0.0.1:8766");
		const elsewhere = { mqtt: true, mqttAddress: "192.0.2.1", httpAddress: "192.0.2.1" };
		assert.equal(urlWith(elsewhere, undefined, "https://192.0.2.1/mcp"), "https://192.0.2.1:443");
	});

	it("is not known if only this machine can reach httpAddress, but others reach the broker", () => {
		assert.equal(urlWith({ mqtt: true, mqttAddress: "192.0.2.1" }), undefined);
		assert.equal(urlWith({ brokerUrl: "mqtt://broker.example" }), undefined);
		assert.equal(urlWith({ brokerUrl: "mqtt://[::1]:1884" }), "http://127.0.0.1:8766");
	});

	it("is an address of this machine if the HTTP server listens on every address", () => {
		const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list);
		const outside = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
		const expected = outside === undefined ? undefined : `http://${outside}:8766`;
		assert.equal(urlWith({ mqtt: true, httpAddress: "0.0.0.0" }), expected);
	});
});
