import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { freePort, until } from "../../host-test/support/testing.js";
import { COMMON_TOOLS } from "../../host-test/support/tool-counts.js";
import { startDevice } from "./device.js";
import { SIGNATURE_KEY, startMqttGateway } from "./mqtt-gateway.js";
import { findPeer } from "./peers.js";
import { Relay } from "./relay.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

/** In the last session: a device may connect more than once. */
const hasAllTools = (output: string): boolean => {
	const pages = [...output.slice(output.lastIndexOf("conn - Headers")).matchAll(/客户端设备支持的工具数量: (\d+)/g)];
	return pages.reduce((sum, [, count]) => sum + Number(count), 0) === COMMON_TOOLS;
};

const { title, folder = "", skip } = findPeer("XIAOZHI_SERVER");
const mqttGateway = findPeer("XIAOZHI_MQTT_GATEWAY");

describe(title, { skip }, () => {
	it("a virtual device that knows only the URL of its OTA handler: WebSocket with a signed token, tools/list", async (t) => {
		const { program, otaUrl } = await startXiaozhiServer(t, folder, {
			server: { auth: { enabled: true, allowed_devices: [] } },
		});
		const { log } = await startDevice(t, { otaUrl });
		const listed = (): boolean => hasAllTools(program.output);
		await until(listed, "the server has the tools").catch(({ message }) =>
			assert.fail(`${message}: ${log.join("\n")}\n${program.output.slice(-2_000)}`),
		);
	});

	it("without that token, the server disconnects the device", async (t) => {
		const { url } = await startXiaozhiServer(t, folder, { server: { auth: { enabled: true, allowed_devices: [] } } });
		const relay = await Relay.listen(t, url);
		const { device } = await startDevice(t, { backend: relay.url, token: "wrong" });
		const ended = once(device, "trace");
		await relay.saw("the server's rejection", ({ message }) => message === "认证失败");
		await ended;
	});

	it("newer firmware at its OTA handler, which is no image: the device rejects it and connects", async (t) => {
		const firmware = { "virtual_9.9.9.bin": "firmware" };
		const { program, otaUrl } = await startXiaozhiServer(t, folder, { firmware });
		const { log } = await startDevice(t, { otaUrl });
		await until(() => hasAllTools(program.output), "the server has the tools");
		assert.match(log.join("\n"), /firmware 9\.9\.9: installing from http:.*virtual_9\.9\.9\.bin/);
		assert.match(log.join("\n"), /upgrade from http:.*failed: Error: image of 8 bytes is shorter than its header/);
	});

	it("a virtual device that knows only the URL of its OTA handler: MQTT at xiaozhi-mqtt-gateway, tools/list, a call", {
		skip: mqttGateway.skip,
	}, async (t) => {
		const port = await freePort();
		const server = await startXiaozhiServer(t, folder, {
			server: { mqtt_gateway: `127.0.0.1:${port}`, mqtt_signature_key: SIGNATURE_KEY },
		});
		const gateway = await startMqttGateway(t, mqttGateway.folder ?? "", server.url, port);
		const { device, log } = await startDevice(t, { otaUrl: server.otaUrl });
		await until(() => gateway.program.output.includes("初始化设备工具成功"), "the gateway has the tools").catch(
			({ message }) => assert.fail(`${message}: ${log.join("\n")}\n${gateway.program.output.slice(-2_000)}`),
		);
		const mac = device.macAddress.replaceAll(":", "_");
		const clientId = /clientId: '([^']+)'/.exec(gateway.program.output)?.[1] ?? "";
		assert.ok(clientId.endsWith(`@@@${mac}@@@${mac}`), clientId);
		// Before the backend's hello, the device rejects commands: they may be retained messages.
		await until(() => log.some((line) => line.startsWith("session ")), "a session");
		const call = { name: "self.audio_speaker.set_volume", arguments: { volume: 45 } };
		const { body } = await gateway.request(clientId, "tools/call", call);
		assert.equal(body.data?.content?.[0]?.text, "true", JSON.stringify(body));
	});
});
