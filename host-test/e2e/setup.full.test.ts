import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import type { Page } from "playwright-core";
import { nextOnline } from "../../gateway/test/support/gateway.js";
import { openPhonePage, whyNoChromium } from "../support/chromium.js";
import { until } from "../support/until.js";
import { ENGINES, type GatewaySide, startDevice, TRANSPORTS } from "./fixtures.js";
import { startNewDevice } from "./gateway-process.js";

// A virtual device that is set up with a phone: the firmware's own page in Chromium, simulated Wi-Fi, a real gateway.

/** Where the page's picture goes. The one in docs/images is taken from here. */
const PICTURES = fileURLToPath(new URL("../../.cache/pictures/", import.meta.url));

const listen = TRANSPORTS.websocket as (t: TestContext) => Promise<GatewaySide>;

const [engine] = ENGINES;

async function openSetup(t: TestContext) {
	const setupPort = await getPort({ host: "127.0.0.1" });
	const config = { backend: "ws://127.0.0.1:1/", setupPort };
	const { device, log } = await startDevice(t, engine as (typeof ENGINES)[number], { config });
	await until(() => log.some((line) => line.startsWith("set-up: join the Wi-Fi")), "the set-up has begun");
	return { device, log, url: `http://127.0.0.1:${setupPort}/` };
}

/** Opens the page as a phone finds it: by asking whether the network has one. */
async function openPage(t: TestContext, url: string, options = {}): Promise<Page> {
	const page = await openPhonePage(t, options);
	await page.goto(`${url}generate_204`);
	await page.getByRole("button", { name: /^Workshop/ }).waitFor();
	return page;
}

async function takePicture(page: Page, name: string): Promise<void> {
	mkdirSync(PICTURES, { recursive: true });
	await page.evaluate("document.activeElement.blur()");
	await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: true });
}

describe("the set-up page in Chromium", { skip: whyNoChromium ?? false }, () => {
	it("brings a new device to the gateway with what a person types", async (t) => {
		const { gateway, config } = await listen(t);
		const { device, log, url } = await openSetup(t);
		const page = await openPage(t, url);
		assert.equal(page.url(), url);
		await page.getByRole("button", { name: /^Workshop/ }).tap();
		assert.equal(await page.getByLabel("Network name").inputValue(), "Workshop");
		await page.getByLabel("Password", { exact: true }).fill("soldering-iron");
		await page.getByLabel("Backend URL").fill("ws://192.168.1.10:8765/");
		await page.getByLabel("Token").fill("a token of the gateway's");
		await takePicture(page, "setup-page");

		// A URL that the firmware cannot use is named beside its field, and nothing is tried.
		await page.getByLabel("Backend URL").fill("htp:/mistyped");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("expected scheme://host").waitFor();
		assert.equal(await page.getByLabel("Backend URL").getAttribute("aria-invalid"), "true");
		await takePicture(page, "setup-page-error");

		await page.getByLabel("Backend URL").fill(config.backend);
		await page.getByLabel("Token").fill(String(config.token));
		await page.getByText("More settings").tap();
		await page.getByLabel("Device name").fill("kitchen");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("The device has joined Workshop.").waitFor();
		await takePicture(page, "setup-page-done");

		const { board } = await nextOnline(gateway.servers);
		assert.equal(board.name, "kitchen");
		const text = log.join("\n");
		assert.doesNotMatch(text, /soldering-iron|secret/);
		await assert.rejects(fetch(url), "the page is gone");
		assert.notEqual(device.engineName, "none");
	});

	it("says that a network could not be joined, and takes the form again", async (t) => {
		const { url } = await openSetup(t);
		const page = await openPage(t, url, { colorScheme: "dark" });
		await page.getByRole("button", { name: /^Upstairs 5/ }).tap();
		await page.getByLabel("Password", { exact: true }).fill("a wrong password");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("Could not join Upstairs 5").waitFor();
		await takePicture(page, "setup-page-dark");
		assert.ok(await page.getByRole("button", { name: "Save and connect" }).isEnabled());
	});

	it("loads nothing from elsewhere, and fits a narrow screen", async (t) => {
		const { url } = await openSetup(t);
		const page = await openPhonePage(t, { viewport: { width: 320, height: 568 } });
		const asked: string[] = [];
		const faults: string[] = [];
		page.on("request", (request) => asked.push(request.url()));
		page.on("pageerror", (error) => faults.push(error.message));
		page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
		await page.goto(url);
		await page.getByRole("button", { name: /^Workshop/ }).waitFor();
		assert.ok(
			asked.every((each) => each.startsWith(url)),
			asked.join(" "),
		);
		assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
		assert.deepEqual(faults, []);
	});
});

it("npm run device -- --setup serves the page, and leads to it whatever is asked", async (t) => {
	const port = await getPort({ host: "127.0.0.1" });
	const program = await startNewDevice(port, "--new", "--engine", "v8");
	t.after(() => program.stop());
	const { status, url } = await fetch(`http://127.0.0.1:${port}/generate_204`);
	assert.deepEqual([status, url], [200, `http://127.0.0.1:${port}/`]);
});
