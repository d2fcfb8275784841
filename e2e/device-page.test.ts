import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { WebSocket } from "ws";
import { bundleDevicePage } from "xs-mcp/build/page-bundles";
import { type BoardProfile, profileOf, readOwnDevice } from "xs-mcp-virtual-device";
import { openDevicePage } from "xs-mcp-virtual-device/device-page";
import { complaintsOf, openPage, whyNoChromium } from "../host-test/support/chromium.js";
import { testWith, until } from "../host-test/support/testing.js";
import { bundleManifest, ENGINE, OWN_BOARD, RawBackend, startDevice } from "./fixtures.js";

const CONSOLE = "http://127.0.0.1:8766/";

/** Whether the first pixel of the screen has been drawn, as an expression in the page. */
const IS_DRAWN = "document.querySelector('canvas')?.getContext('2d').getImageData(0, 0, 1, 1).data[3] === 255";

async function open(t: TestContext, own: { readonly script?: string; readonly board?: BoardProfile } = {}) {
	const backend = await RawBackend.listen(t);
	const { device } = await startDevice(t, ENGINE, { config: { backend: backend.url }, ...own });
	const served = await openDevicePage(device, await bundleDevicePage(), 0, CONSOLE);
	t.after(() => served.close());
	await backend.greet();
	return { backend, device, url: served.url };
}

const itOpened = testWith(open);

async function show(t: TestContext, url: string): Promise<Page> {
	const page = await openPage(t, {
		viewport: { width: 1280, height: 900 },
		permissions: ["clipboard-read", "clipboard-write"],
	});
	await page.goto(url);
	await page.getByRole("heading", { name: "Trace" }).waitFor();
	return page;
}

const ON = { name: "pump", on: true };

/** The colours on the screen, as one number: it changes with each drawing. */
async function look(canvas: Locator): Promise<string> {
	return await canvas.evaluate((element) => (element as unknown as { toDataURL(): string }).toDataURL());
}

async function hearType(backend: RawBackend, type: string): Promise<Record<string, unknown>> {
	for (;;) {
		const message = JSON.parse(await backend.hear());
		if (message.type === type) {
			return message;
		}
	}
}

describe("a virtual device's page in Chromium", { skip: whyNoChromium }, () => {
	it("shows the pins of a device of one's own as what they are, and sets its inputs", async (t) => {
		const script = await bundleManifest("examples/pump/manifest.json");
		const { profile = OWN_BOARD } = (await readOwnDevice("examples/pump/manifest.json")) ?? {};
		const { backend, device, url } = await open(t, { script, board: profile });
		const page = await show(t, url);
		assert.equal(await page.getByRole("link", { name: "Gateway's console" }).getAttribute("href"), CONSOLE);
		const pins = page.getByRole("region", { name: "Pins" });
		await pins.getByText("Pump: off").waitFor();
		await backend.ask({ id: 1, method: "tools/call", params: { name: "self.switch.set", arguments: ON } });
		await pins.getByText("Pump: on").waitFor();
		await pins.getByRole("slider", { name: "soil" }).fill("100");
		await until(() => device.pins.some(({ part, value }) => part === "soil" && value === 1_200), "the soil is wet");
		await pins.getByLabel("door: open").click();
		await pins.getByLabel("door: closed").waitFor();
		device.restart();
		await backend.greet();
		assert.equal(backend.headers["page-url"], url, "a gateway's console links it");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows what the chips on its bus measure, sets it, and unplugs them", async (t) => {
		const script = await bundleManifest("host-test/fixtures/air/manifest.json");
		const { device, url } = await open(t, { script, board: OWN_BOARD });
		const page = await show(t, url);
		const air = page.getByRole("region", { name: "air" });
		await air.getByRole("slider", { name: "humidity" }).fill("80");
		const chip = () => device.chips.find(({ part }) => part === "air");
		await until(() => chip()?.values.humidity === 80, "the air is humid");
		await air.getByRole("img", { name: "humidity, the last minute" }).waitFor();
		await air.getByLabel("air: SHT3x (0x44)").click();
		await until(() => chip()?.isPlugged === false, "it is unplugged");
		await air.getByRole("slider").first().waitFor({ state: "detached" });
		await air.getByLabel("air: SHT3x (0x44)").click();
		await until(() => chip()?.isPlugged === true, "it is plugged in");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows the screen and the lights as they were before the page was served", async (t) => {
		const backend = await RawBackend.listen(t);
		const { device } = await startDevice(t, ENGINE, { config: { backend: backend.url } });
		await backend.greet();
		const light = { name: "self.light.set", arguments: { on: true, color: "#ff8000" } };
		await backend.ask({ id: 1, method: "tools/call", params: light });
		await until(() => device.screen?.state === "idle", "nothing changes any more");
		const served = await openDevicePage(device, await bundleDevicePage(), 0);
		t.after(() => served.close());
		const page = await show(t, served.url);
		await page.getByText("of #ff8000").waitFor();
		await page.waitForFunction(IS_DRAWN);
	});

	it("turns the screen of a robot's head", async (t) => {
		const { backend, url } = await open(t, { board: profileOf("esp32/m5stack_stackchan") });
		const page = await show(t, url);
		const turn = () =>
			page.locator(".head").evaluate((head) => (head as unknown as { style: { transform: string } }).style.transform);
		assert.equal(await turn(), "rotateY(0deg) rotateX(0deg)");
		const move = { name: "self.head.move", arguments: { yaw: -40, pitch: 25 } };
		await backend.ask({ id: 1, method: "tools/call", params: move });
		const light = { name: "self.light.set", arguments: { on: true, color: "#00c0ff" } };
		await backend.ask({ id: 2, method: "tools/call", params: light });
		await page.getByText("Head: yaw -40°, pitch 25°").waitFor();
		assert.equal(await turn(), "rotateY(40deg) rotateX(25deg)");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows the screen in a tab in the background, which renders late", async (t) => {
		const { url } = await open(t);
		const page = await show(t, url);
		await page.waitForFunction(IS_DRAWN);
		const late = "const set = setTimeout; window.setTimeout = (call, delay = 0) => set(call, Math.max(delay, 1_000));";
		await page.addInitScript(`${late} window.requestAnimationFrame = () => 0;`);
		await page.reload();
		await until(() => page.evaluate(IS_DRAWN), "the screen is drawn");
	});

	it("fits a phone of 360 pixels, with a screen and with pins", async (t) => {
		const script = await bundleManifest("host-test/fixtures/heater/manifest.json");
		for (const own of [{}, { script, board: OWN_BOARD }]) {
			const { url } = await open(t, own);
			const page = await show(t, url);
			await page.setViewportSize({ width: 360, height: 740 });
			assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
		}
	});

	it("draws the face, shows what the backend says as text, and acts on the device", async (t) => {
		const { backend, device, url } = await open(t);
		const page = await show(t, url);
		const canvas = page.locator("canvas");
		const blank = await look(canvas);
		backend.say({ type: "tts", state: "start" });
		backend.say({ type: "tts", state: "sentence_start", text: "<img src=x onerror=alert(1)> 今天天气很好" });
		await until(async () => (await look(canvas)) !== blank, "the face speaks");
		await page.locator(".trace li.backend", { hasText: "<img src=x onerror=alert(1)>" }).waitFor();
		assert.equal(await page.locator(".trace img").count(), 0);
		const states: string[] = [];
		device.on("screen", ({ state }) => states.push(state));
		backend.say({ type: "tts", state: "stop" });
		await until(() => states.at(-1) === "idle", "the assistant has spoken");

		await page.getByRole("button", { name: "boot" }).click();
		assert.equal((await hearType(backend, "listen")).state, "start");
		await page.getByPlaceholder("Filter, such as tools/call").fill('"listen"');
		await until(async () => (await page.locator(".trace li").count()) === 1, "only what the filter leaves");
		await page.getByRole("button", { name: "Copy all" }).click();
		const copied = await page.evaluate("navigator.clipboard.readText()");
		assert.match(String(copied), /^[0-9:.]+ device \(websocket\): \{.*"type":"listen"/);

		await page.getByLabel("Temperature").fill("30.5");
		await until(() => device.environment.surroundings.has("temperature"), "the sensor is set");
		const read = await backend.ask({
			id: 7,
			method: "tools/call",
			params: { name: "self.sensor.read", arguments: { sensor: "temperature" } },
		});
		assert.match(JSON.stringify(read), /30\.5/);
		await backend.ask({
			id: 8,
			method: "tools/call",
			params: { name: "self.light.set", arguments: { color: "#ff8000", brightness: 60 } },
		});
		await page.getByText("led: 60 % of #ff8000").waitFor();
		await backend.ask({ id: 9, method: "tools/call", params: { name: "self.audio_speaker.chime", arguments: {} } });
		await page.getByLabel("Last sound").waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	itOpened("makes faults: a lost network, a silent backend, a brown-out", async ({ backend, device, url }, t) => {
		const page = await show(t, url);
		await page.getByRole("button", { name: "Backend silent" }).click();
		await until(() => device.network.silent, "silent");
		backend.say({ type: "tts", state: "sentence_start", text: "nobody hears this" });
		await page.locator(".trace li", { hasText: "nobody hears this" }).getByText("(silenced)").waitFor();
		await page.getByRole("button", { name: "Backend silent" }).click();
		await page.getByRole("button", { name: "Network lost" }).click();
		await until(() => backend.socket.readyState === WebSocket.CLOSED, "the connection is gone");
		await page.getByRole("button", { name: "Network lost" }).click();
		await backend.greet("s-2");
		const before = backend.socket;
		await page.getByRole("button", { name: "Brown-out" }).click();
		await until(() => backend.socket !== before, "the device is up again");
		await backend.greet("s-3");
		assert.equal(before.readyState, WebSocket.OPEN, "nobody has closed the old connection");
		await page.locator(".trace li.note", { hasText: "restarted" }).waitFor();
	});
});

describe("a virtual device's page", () => {
	itOpened("is not for other sites: neither by its name nor by a WebSocket", async ({ url }) => {
		const { host } = new URL(url);
		const answer = await fetch(url);
		assert.equal(answer.status, 200);
		assert.match(
			answer.headers.get("content-security-policy") ?? "",
			/default-src 'none'; script-src 'self'; style-src 'self'/,
		);
		assert.doesNotMatch(await answer.text(), /https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
		assert.equal((await fetch(`${url}../package.json`)).status, 404);
		const statusOf = async (headers: Record<string, string>): Promise<number> => {
			const socket = new WebSocket(`ws://${host}/device`, { headers });
			const status = await new Promise<number>((resolve) => {
				socket.on("open", () => resolve(101));
				socket.on("unexpected-response", (_request, { statusCode = 0 }) => resolve(statusCode));
				socket.on("error", () => {});
			});
			socket.terminate();
			return status;
		};
		assert.equal(await statusOf({ Origin: `http://${host}` }), 101);
		assert.equal(await statusOf({ Origin: "http://example.com" }), 403);
		assert.equal(await statusOf({}), 403);
		assert.equal(await statusOf({ Host: "rebound.example.com", Origin: "http://rebound.example.com" }), 403);
	});

	itOpened("says what is wrong with a message, and does nothing", async ({ url }, t) => {
		const { host } = new URL(url);
		const socket = new WebSocket(`ws://${host}/device`, { headers: { Origin: `http://${host}` } });
		t.after(() => socket.terminate());
		const failures: string[] = [];
		socket.on("message", (data, isBinary) => {
			const { type, message } = isBinary ? {} : JSON.parse(String(data));
			if (type === "failure") {
				failures.push(message);
			}
		});
		await new Promise((resolve) => socket.on("open", resolve));
		for (const message of [
			'{"action":"press","value":0}',
			'{"action":"hold","value":{"button":"power","down":true}}',
			'{"action":"network","value":{"delay":-1}}',
			'{"action":"explode"}',
			'{"action":"restart","value":{}}',
			Buffer.from("GIF89a"),
		]) {
			socket.send(message);
		}
		await until(() => failures.length === 6, "all are answered");
		assert.deepEqual(failures, [
			"press: expected a whole number from 1 to 60000",
			"hold.button: expected boot, screen",
			"network.delay: expected a whole number from 0 to 60000",
			"explode: unknown action (expected press, hold, measure, set, say, battery, mute, signal, network, restart, brownOut)",
			"restart: expected no value",
			"photo: not a JPEG file",
		]);
	});
});
