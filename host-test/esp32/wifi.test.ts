// The released image of a bare ESP32-C3, with ESP-IDF's Wi-Fi libraries, in a QEMU that emulates Wi-Fi. Run by npm run test:esp32.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MqttDevices, WebSocketDevices } from "../../gateway/src/index.js";
import { openGateway } from "../../gateway/test/support/gateway.js";
import { storeSettings } from "../../scripts/moddable/flash-image.js";
import {
	buildForQemu,
	findWifiTools,
	HOST_ADDRESS,
	type QemuImage,
	type QemuTools,
} from "../../scripts/moddable/qemu.js";
import { DEVICE_ACCESS, GATEWAY_ACCESS } from "../e2e/fixtures.js";
import { makeTrustingFirmware } from "../support/certificate-authority.js";
import { startChip, startDevice } from "./device.js";
import { CALLS } from "./lengths.js";

/** The emulator's network. */
const ssid = "PICSimLabWifi";

/** Milliseconds without network: longer than the chip takes to notice that the access point has sent it away. */
const OUTAGE = 20_000;

/** The firmware with another CA. */
const TRUSTING = fileURLToPath(new URL("../../.cache/esp32-tls", import.meta.url));

/** Calls over TLS. */
const TLS_CALLS = 50;

const tools = findWifiTools();

describe("an ESP32-C3 with Wi-Fi in QEMU", { skip: typeof tools === "string" && tools }, () => {
	const { emulator } = tools as QemuTools;
	let image: QemuImage;

	before(async () => {
		image = await buildForQemu(tools as QemuTools);
	});

	it("joins the network of its settings, and comes back after a restart, a closed connection and loss of the network", async (t) => {
		const device = await startDevice(t, { image, settings: { ssid }, emulator });
		const use = async (when: string): Promise<void> => {
			await device.nextSession();
			const { result } = await device.call("self.get_device_status");
			const { network } = JSON.parse(result.content[0].text);
			assert.deepEqual([network.type, network.ssid], ["wifi", ssid]);
			for (let call = 0; call < CALLS; call += 1) {
				assert.equal((await device.call("self.get_device_status")).result.isError, false);
			}
			t.diagnostic(`${when}: ${(await device.info()).minimum_free_heap_size} bytes least free`);
		};
		await use("switched on");
		device.fail("self.reboot");
		await use("restarted");
		device.backend.socket.close();
		await use("closed");
		await device.setNetwork(false);
		await setTimeout(OUTAGE);
		await device.setNetwork(true);
		await use("without network");
	});

	it("joins a network with a password, by WPA2", async (t) => {
		const passphrase = "correct horse";
		const device = await startDevice(t, { image, settings: { ssid, password: passphrase }, emulator, passphrase });
		await device.nextSession();
		assert.equal((await device.call("self.get_device_status")).result.isError, false);
	});

	it("updates itself", async (t) => {
		const device = await startDevice(t, {
			image,
			settings: { ssid },
			emulator,
			images: new Map([["same", image.firmware]]),
		});
		await device.nextSession();
		assert.equal((await device.update("same")).result.isError, false);
		await device.nextSession();
		assert.equal(await device.partition(), "ota_1");
	});

	it("comes to a session over MQTT, with user name and password", async (t) => {
		const gateway = await openGateway(t);
		const { devices, port } = await MqttDevices.listen(gateway.servers, {
			port: 0,
			authenticate: ({ username, secret }) =>
				username === GATEWAY_ACCESS.username && secret === GATEWAY_ACCESS.password ? {} : "unknown",
		});
		t.after(() => devices.close());
		const online = once(gateway.servers, "online");
		startChip(t, { image, settings: { ssid, backend: `mqtt://${HOST_ADDRESS}:${port}`, ...DEVICE_ACCESS }, emulator });
		const [{ session }] = await online;
		for (let call = 0; call < CALLS; call += 1) {
			await session.callTool("self.get_device_status");
		}
	});

	it("comes to a session over TLS only with a CA of its build, after a server has told it the time", async (t) => {
		const tls = makeTrustingFirmware(TRUSTING, HOST_ADDRESS);
		const trusting = await buildForQemu(tools as QemuTools, [], TRUSTING);
		const gateway = await openGateway(t);
		const devices = new WebSocketDevices(gateway.servers, { port: 0, tls });
		const url = `wss://${HOST_ADDRESS}:${await devices.listen()}/`;
		t.after(() => devices.close());
		const bootstrap = createServer((_request, response) => {
			response.end(JSON.stringify({ server_time: { timestamp: Date.now(), timezone_offset: 0 }, websocket: { url } }));
		}).listen(0, "127.0.0.1");
		t.after(() => bootstrap.close());
		await once(bootstrap, "listening");
		const otaUrl = `http://${HOST_ADDRESS}:${(bootstrap.address() as AddressInfo).port}/`;
		const settings = { ssid, otaUrl };

		const rejected = once(gateway.servers, "rejected");
		const chip = startChip(t, { image, settings, emulator });
		assert.match((await rejected)[0], /^TLS: socket hang up/);

		const online = once(gateway.servers, "online");
		await chip.cutPower((flash) => storeSettings(trusting.flash, settings).copy(flash));
		const [{ session, tools: listed }] = await online;
		assert.ok(listed.some(({ name }: { readonly name: string }) => name === "self.get_device_status"));
		for (let call = 0; call < TLS_CALLS; call += 1) {
			assert.equal((await session.callTool("self.get_device_status")).isError, false);
		}
		const { content } = await session.callTool("self.get_system_info");
		t.diagnostic(`over TLS: ${JSON.parse(content[0].text).minimum_free_heap_size} bytes least free`);
	});
});
