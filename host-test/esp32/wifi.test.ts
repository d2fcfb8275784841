// The released image of bare chips, with ESP-IDF's Wi-Fi libraries, in a QEMU that emulates Wi-Fi. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { text } from "node:stream/consumers";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { listenForWebSocket } from "xs-mcp-gateway";
import { openGateway } from "xs-mcp-gateway/testing/gateway";
import { DEVICE_ACCESS, openOverMqtt, RawBackend } from "../../e2e/fixtures.js";
import { callTool } from "../support/call-tool.js";
import { makeTrustingFirmware } from "../support/certificate-authority.js";
import { freePort, listen, until } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startChip, startDevice, startInSession } from "./device.js";
import { ofVersion, storeSettings } from "./flash-image.js";
import { ImprovComputer } from "./improv.js";
import { CALLS } from "./lengths.js";
import { buildForQemu, findWifiTools, HOST_ADDRESS } from "./qemu.js";

const ssid = "PICSimLabWifi";

/** Milliseconds without network: longer than the chip takes to notice that the access point has sent it away. */
const OUTAGE = 20_000;

const TRUSTING = fileURLToPath(new URL("../../.cache/esp32-tls", import.meta.url));

const TLS_CALLS = 50;

/** The chip in its own network, and the phone that the emulator makes join it: this computer speaks as the phone. */
const OWN_ADDRESS = "192.168.4.1";
const PHONE_ADDRESS = "192.168.4.2";

/** A scan may miss a network: in the emulator, one of 16 did. */
const LISTED = "the chip lists the network";

/** The output of the chip's ROM after the firmware has restarted it. */
const RESTARTED = /RTC_SW_CPU_RST/;

/** Asks the chip's page as a browser in its network does. Undefined while it does not answer. */
async function askPage(port: number, method: string, path: string, body = "", headers: Record<string, string> = {}) {
	const asked = request({
		port,
		method,
		path,
		headers: { host: OWN_ADDRESS, "content-type": "application/json", "content-length": body.length, ...headers },
	}).end(body);
	try {
		const [response] = await once(asked, "response");
		return { status: response.statusCode as number, body: await text(response) };
	} catch {
		return undefined;
	}
}

/** Asks the chip's DNS server for the address of a name. */
async function resolveAt(port: number, name: string): Promise<string> {
	const labels = name.split(".").map((label) => String.fromCharCode(label.length) + label);
	const socket = createSocket("udp4");
	try {
		// One question for an address (RFC 1035, §4.1): the answer ends with it.
		socket.send(
			Buffer.from(`\0\x01\x01\0\0\x01\0\0\0\0\0\0${labels.join("")}\0\0\x01\0\x01`, "latin1"),
			port,
			"127.0.0.1",
		);
		const [answer] = await once(socket, "message");
		return [...answer.subarray(-4)].join(".");
	} finally {
		socket.close();
	}
}

describeChips({ topic: "Wi-Fi", find: findWifiTools }, (build, tools) => {
	it("joins the network of its settings, and comes back after a restart, a closed connection and loss of the network", async (t) => {
		const device = await startDevice(t, { image: await build(), settings: { ssid } });
		const use = async (when: string): Promise<void> => {
			await device.nextSession();
			const { result } = await device.call("self.get_device_status");
			const { network } = JSON.parse(result.content[0]?.text ?? "");
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
		const settings = { ssid, password: passphrase };
		const device = await startInSession(t, { image: await build(), settings, passphrase });
		assert.equal((await device.call("self.get_device_status")).result.isError, false);
	});

	it("is set up by a phone in its own network: every name leads to its page, where a network and a backend are chosen", async (t) => {
		const backend = await RawBackend.listen(t);
		const [web, dns] = [await freePort(), await freePort()];
		const network = [
			`net=${PHONE_ADDRESS}/24,host=${PHONE_ADDRESS}`,
			`hostfwd=tcp:127.0.0.1:${web}-${OWN_ADDRESS}:80,hostfwd=udp:127.0.0.1:${dns}-${OWN_ADDRESS}:53`,
		].join(",");
		startChip(t, { image: await build(), settings: {}, network, onEnd: (reason) => backend.fail(reason) });

		await until(async () => (await askPage(web, "GET", "/"))?.status === 200, "the page is served");
		assert.equal(await resolveAt(dns, "connectivitycheck.example"), OWN_ADDRESS);
		await until(async () => {
			const { networks } = JSON.parse((await askPage(web, "GET", "/networks"))?.body ?? "");
			return networks.some((found: { readonly ssid: string }) => found.ssid === ssid);
		}, LISTED);
		const { formToken, backend: preset } = JSON.parse((await askPage(web, "GET", "/settings"))?.body ?? "");
		assert.equal(preset, "mdns:");
		const form = { ssid, password: "", backend: `ws://${PHONE_ADDRESS}:${backend.port}/`, language: "en" };
		const sent = await askPage(web, "POST", "/settings", JSON.stringify(form), { "x-form-token": formToken });
		assert.equal(sent?.status, 202);

		for (const when of ["tried", "restarted"]) {
			assert.equal(JSON.parse(await backend.hear()).type, "hello", when);
			backend.say({ type: "hello", transport: "websocket", session_id: "s", audio_params: {} });
		}
		const params = { name: "self.get_device_status", arguments: {} };
		const { result } = await backend.ask({ id: 1, method: "tools/call", params });
		assert.equal(JSON.parse(result.content[0]?.text ?? "").network.ssid, ssid);
	});

	it("is set up by a computer over the serial line, by Improv: it lists networks, joins one and restarts", async (t) => {
		const device = await startDevice(t, { image: await build(), hasSerial: true });
		const computer = new ImprovComputer(await device.openSerial());
		assert.match(await computer.hardware(), /xs-mcp.*esp32/s);
		assert.doesNotMatch(device.console(), RESTARTED, "the chip takes what it is sent while it starts");
		await until(async () => (await computer.networks()).includes(ssid), LISTED);
		await computer.setWiFi(ssid, "");
		await until(() => RESTARTED.test(device.console()), "the chip restarts");
		await device.nextSession();
		const { result } = await device.call("self.get_device_status");
		assert.equal(JSON.parse(result.content[0]?.text ?? "").network.ssid, ssid);
	});

	it("updates itself", async (t) => {
		const image = await build();
		const images = new Map([["next", ofVersion(image.firmware, "9.9.9")]]);
		const device = await startInSession(t, { image, settings: { ssid }, images });
		await device.install("next");
		await device.nextSession();
		assert.equal(await device.partition(), "ota_1");
	});

	it("comes to a session over MQTT, with user name and password", async (t) => {
		const { gateway, config } = await openOverMqtt(t);
		const online = once(gateway.servers, "online");
		const backend = config.backend.replace("127.0.0.1", HOST_ADDRESS);
		startChip(t, { image: await build(), settings: { ssid, backend, ...DEVICE_ACCESS } });
		const [{ session }] = await online;
		for (let call = 0; call < CALLS; call += 1) {
			await callTool(session, "self.get_device_status");
		}
	});

	it("comes to a session over TLS only with a CA of its build, after a server has told it the time", async (t) => {
		const tls = makeTrustingFirmware(TRUSTING, HOST_ADDRESS);
		const trusting = await buildForQemu(tools, [], TRUSTING);
		const gateway = await openGateway(t);
		const devices = await listenForWebSocket(gateway.servers, { port: 0, tls });
		const url = `wss://${HOST_ADDRESS}:${devices.port}/`;
		t.after(() => devices.close());
		const bootstrap = createServer((_request, response) => {
			response.end(JSON.stringify({ server_time: { timestamp: Date.now(), timezone_offset: 0 }, websocket: { url } }));
		});
		const otaUrl = `http://${HOST_ADDRESS}:${await listen(t, bootstrap)}/`;
		const settings = { ssid, otaUrl };

		const rejected = once(gateway.servers, "rejected");
		const chip = startChip(t, { image: await build(), settings });
		assert.match((await rejected)[0], /^TLS: socket hang up/);

		const online = once(gateway.servers, "online");
		await chip.cutPower((flash) => storeSettings(trusting.flash, settings).copy(flash));
		const [{ session, tools: listed }] = await online;
		assert.ok(listed.some(({ name }: { readonly name: string }) => name === "self.get_device_status"));
		for (let call = 0; call < TLS_CALLS; call += 1) {
			assert.equal((await callTool(session, "self.get_device_status")).isError, false);
		}
		const { content } = (await callTool(session, "self.get_system_info")) as { content: { text: string }[] };
		t.diagnostic(`over TLS: ${JSON.parse(content[0]?.text ?? "").minimum_free_heap_size} bytes least free`);
	});
});
