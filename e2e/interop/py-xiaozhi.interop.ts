import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { promisify } from "node:util";
import { correlationWithGaps } from "../../host-test/support/correlation.js";
import { samplesOf, speak } from "../../host-test/support/speak.js";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { gatewayArgs, type RunningGateway, startGateway, untilKnown } from "../gateway-process.js";
import { findPeer } from "./peers.js";
import { converse, startPyXiaozhi } from "./py-xiaozhi.js";

const { title, folder = "", skip } = findPeer("PY_XIAOZHI");

const MAC = "02:00:00:00:2b:01";

async function runGateway(t: TestContext, ...flags: string[]): Promise<RunningGateway> {
	const gateway = await startGateway(temporaryFolder(), ...flags);
	t.after(() => gateway.program.stop());
	return gateway;
}

async function useDevice(t: TestContext, gateway: RunningGateway): Promise<void> {
	await untilKnown(gateway, 1);
	const client = await connectOverHttp(`${gateway.base}/mcp/${MAC}`, "2025-11-25");
	t.after(() => client.close());
	const { tools } = await client.listTools();
	const weather = tools.find(({ name }) => name.includes("get_weather"));
	assert.ok(weather, tools.map(({ name }) => name).join());
	const { content } = await client.callTool({ name: weather.name, arguments: { city: "Nara" } });
	assert.match((content as { text: string }[])[0]?.text ?? "", /"city": "Nara"/);
	t.diagnostic(`${tools.length} tools`);
}

const brokerOf = ({ program }: RunningGateway): string => new URL(program.said(/"mqtt":"([^"]+)"/)).host;

const mqttNetwork = (gateway: RunningGateway) => ({
	MQTT_INFO: {
		endpoint: brokerOf(gateway),
		client_id: MAC,
		username: "device",
		password: "secret",
		publish_topic: `xs-mcp/${MAC}/up`,
		subscribe_topic: `xs-mcp/${MAC}/down`,
	},
});

const base = { checkout: folder, macAddress: MAC };

const SENTENCE = "The soil is dry. Please water the plant.";

/** Samples that the way may delay a sound, and each gap: a second. */
const MAX_DELAY = 24_000;

async function hearDevice(t: TestContext, gateway: RunningGateway, speaker: string): Promise<void> {
	const client = await connectOverHttp(`${gateway.base}/mcp`, "2025-11-25");
	t.after(() => client.close());
	let said = "";
	const say = async (): Promise<boolean> => {
		const { content } = await client.callTool({ name: "say", arguments: { text: SENTENCE, devices: ["all"] } });
		said = (content as { text: string }[])[0]?.text ?? "";
		return !said.includes("audio channel");
	};
	// Over MQTT, the gateway learns the device's address only from its datagrams.
	await until(say, "its audio channel is open");
	assert.match(said, /: (played|sent)$/);
	const heard = new Int16Array(Uint8Array.from(readFileSync(speaker)).buffer);
	const start = heard.findIndex((sample) => Math.abs(sample) > 100);
	const likeness = correlationWithGaps(
		samplesOf(speak(SENTENCE), 24_000),
		heard.subarray(Math.max(0, start - MAX_DELAY)),
		2 * MAX_DELAY,
	);
	assert.ok(likeness >= 0.9, `correlation ${likeness}`);
	t.diagnostic(`${said}, correlation ${likeness.toFixed(3)}`);
}

const SPEAKING = ["--speech-command", "espeak-ng --stdout -v {voice}"];

describe(title, { skip }, () => {
	it("as a device over WebSocket at our gateway: its speaker plays what it is told to say", async (t) => {
		const gateway = await runGateway(t, ...SPEAKING);
		const speaker = join(temporaryFolder(), "speaker.raw");
		const network = { WEBSOCKET_URL: gateway.deviceUrl, WEBSOCKET_ACCESS_TOKEN: "t" };
		await converse(await startPyXiaozhi(t, { ...base, protocol: "websocket", network, speaker }));
		await untilKnown(gateway, 1);
		await hearDevice(t, gateway, speaker);
	});

	it("as a device over MQTT at our gateway: the same by UDP", async (t) => {
		const gateway = await runGateway(t, "--mqtt", "--mqtt-port", "0", ...SPEAKING);
		const speaker = join(temporaryFolder(), "speaker.raw");
		const device = await startPyXiaozhi(t, { ...base, protocol: "mqtt", network: mqttNetwork(gateway), speaker });
		await converse(device);
		await untilKnown(gateway, 1);
		await hearDevice(t, gateway, speaker);
	});

	it("as a device over WebSocket at our gateway: tools listed, one called", async (t) => {
		const gateway = await runGateway(t);
		const network = { WEBSOCKET_URL: gateway.deviceUrl, WEBSOCKET_ACCESS_TOKEN: "t" };
		await converse(await startPyXiaozhi(t, { ...base, protocol: "websocket", network }));
		await useDevice(t, gateway);
	});

	it("as a device over MQTT at our gateway: tools listed, one called", async (t) => {
		const gateway = await runGateway(t, "--mqtt", "--mqtt-port", "0");
		await converse(await startPyXiaozhi(t, { ...base, protocol: "mqtt", network: mqttNetwork(gateway) }));
		await useDevice(t, gateway);
	});

	for (const protocol of ["websocket", "mqtt"] as const) {
		it(`as a device that knows only the gateway's URL, over ${protocol}: shows a code, is approved, tools listed, one called`, async (t) => {
			const gateway = await runGateway(t, "--mqtt", "--mqtt-port", "0", "--bootstrap", "approve");
			const network = { OTA_VERSION_URL: `${gateway.base}/xiaozhi/ota/`, ACTIVATION_VERSION: "v2" };
			const device = await startPyXiaozhi(t, { ...base, protocol, network });
			await until(() => /验证码\D*\d{6}/.test(device.output), "the code");
			const code = device.said(/验证码\D*(\d{6})/);
			await promisify(execFile)(process.execPath, gatewayArgs("devices", "approve", code, "--url", gateway.base));
			await converse(device);
			await useDevice(t, gateway);
		});
	}
});
