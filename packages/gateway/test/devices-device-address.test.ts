import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { readConfiguration } from "../src/config/configuration.js";
import type { SettingName } from "../src/config/settings.js";
import { urlForDevice } from "../src/devices/admission.js";
import { BOARD } from "../testing/bootstrap.js";
import { connectWebSocket, familyHello } from "../testing/family.js";
import { WireDevice } from "../testing/gateway.js";
import { visionOf } from "../testing/pictures.js";
import { makeFirmwareFolder, startProgram } from "../testing/program.js";

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

// Clients on chips leave the port out of the Host header, whichever it is.
describe("a device whose Host header has no port", () => {
	const HEADERS = { "device-id": BOARD.id, "client-id": BOARD.clientId, host: "127.0.0.1" };

	it("is told to upload pictures at the port of its connection", async (t) => {
		const { deviceUrl } = await startProgram(t);
		const { mcp } = await connectWebSocket(t, deviceUrl, { headers: HEADERS });
		mcp.say(familyHello("websocket"));
		const initialize = () => mcp.received.find(({ payload }) => payload?.method === "initialize")?.payload;
		await until(() => initialize() !== undefined, "initialize");
		const { params } = initialize() as unknown as { params: { capabilities: { vision: { url: string } } } };
		assert.equal(params.capabilities.vision.url, `${deviceUrl.replace("ws:", "http:")}vision/explain`);
	});

	it("is given the URL of its firmware with the port of its request", async (t) => {
		const firmwareFolder = makeFirmwareFolder({ "lamp_1.0.0.bin": "image" });
		const { base } = await startProgram(t, { bootstrap: "open", firmwareFolder });
		const headers = { ...HEADERS, "user-agent": "lamp/0.9.0" };
		const [response] = await once(request(`${base}/xiaozhi/ota/`, { headers }).end(), "response");
		const { firmware } = JSON.parse(await text(response));
		assert.equal(await (await fetch(firmware.url)).text(), "image");
	});
});
