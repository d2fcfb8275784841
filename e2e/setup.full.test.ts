import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { nextOnline } from "xs-mcp-gateway/testing/gateway";
import { complaintsOf, openPhonePage, whyNoChromium } from "../host-test/support/chromium.js";
import { freePort, temporaryFolder, testWith, until } from "../host-test/support/testing.js";
import { announce, LOOPBACK } from "./announce.js";
import { ENGINE, openOverWebSocket, startDevice } from "./fixtures.js";
import { startNewDevice } from "./gateway-process.js";

/** Where the page's picture goes. The one in docs/images is taken from here. */
const PICTURES = fileURLToPath(new URL("../.cache/pictures/", import.meta.url));

async function openSetup(t: TestContext, settings: object = {}) {
	const setupPort = await freePort();
	const config = { backend: "mdns:", setupPort, mdnsInterface: LOOPBACK, ...settings };
	const settingsFile = join(temporaryFolder(), "settings.json");
	const { device, log } = await startDevice(t, ENGINE, { config, settingsFile });
	await until(() => log.some((line) => line.startsWith("set-up: join the Wi-Fi")), "the set-up has begun");
	return { device, log, settingsFile, url: `http://127.0.0.1:${setupPort}/` };
}

const itSetup = testWith(openSetup);

const LANGUAGES = [
	{
		locale: "en-US",
		title: "Set up the device",
		find: "Find my gateway",
		failed: /has 8 to 63 characters/,
		other: "ja",
	},
	{ locale: "ja-JP", title: "デバイスの設定", find: "ゲートウェイを探す", failed: /8〜63 文字/, other: "zh" },
	{ locale: "zh-CN", title: "设置设备", find: "查找我的网关", failed: /8 到 63 个字符/, other: "en" },
] as const;

async function openPage(t: TestContext, url: string, options = {}): Promise<Page> {
	const page = await openPhonePage(t, { locale: "en-GB", ...options });
	await page.goto(`${url}generate_204`);
	await page.getByRole("button", { name: /^Workshop/ }).waitFor();
	return page;
}

async function takePicture(page: Page, name: string): Promise<void> {
	mkdirSync(PICTURES, { recursive: true });
	await page.evaluate("document.activeElement.blur()");
	await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: true });
}

describe("the set-up page in Chromium", { skip: whyNoChromium }, () => {
	it("connects a new device to the gateway with the user's input", async (t) => {
		const { gateway, config } = await openOverWebSocket(t);
		const { device, log, url, settingsFile } = await openSetup(t);
		const page = await openPage(t, url, { timezoneId: "Europe/Berlin" });
		assert.equal(page.url(), url);
		await page.getByRole("button", { name: /^Workshop/ }).tap();
		assert.equal(await page.getByLabel("Network name").inputValue(), "Workshop");
		await page.getByLabel("Password", { exact: true }).fill("soldering-iron");
		// A URL that the firmware cannot use is named beside its field, and nothing is tried.
		await page.getByLabel("Server address").fill("htp:/mistyped");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("The device cannot use this address").waitFor();
		assert.equal(await page.getByLabel("Server address").getAttribute("aria-invalid"), "true");
		await takePicture(page, "setup-page-error");

		await page.getByLabel("Server address").fill(config.backend);
		await page.getByLabel("Token").fill(String(config.token));
		await page.getByText("More settings").tap();
		await page.getByLabel("Device name").fill("kitchen");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("The device has joined Workshop.").waitFor();
		await takePicture(page, "setup-page-done");

		const { board } = await nextOnline(gateway.servers);
		assert.equal(board.name, "kitchen");
		assert.match(readFileSync(settingsFile, "utf8"), /"timezone":\s*"<\+01>-1<\+02>-2,M3\.5\.0\/2,M10\.5\.0\/3"/);
		const text = log.join("\n");
		assert.doesNotMatch(text, /soldering-iron|secret/);
		await assert.rejects(fetch(url), "the page is gone");
		assert.notEqual(device.engineName, "none");
	});

	it("is not needed by a device that cannot join the first network but another one that it knows", async (t) => {
		const side = await openOverWebSocket(t);
		const online = nextOnline(side.gateway.servers);
		await startDevice(t, ENGINE, {
			config: {
				...side.config,
				setupPort: await freePort(),
				ssid: "Upstairs 5",
				password: "a wrong password",
				networks: '[["nowhere",""],["Workshop","soldering-iron"]]',
			},
		});
		await online;
	});

	it("finds the gateway in the network that was typed, and the device connects to it", async (t) => {
		const side = await openOverWebSocket(t);
		const host = `setup-${process.pid}`;
		await announce(t, side, host);
		const { url } = await openSetup(t);
		const page = await openPage(t, url);
		await page.getByRole("button", { name: /^Workshop/ }).tap();
		await page.getByLabel("Password", { exact: true }).fill("soldering-iron");
		await page.getByRole("button", { name: "Find my gateway" }).tap();
		await page.getByText("Choose your gateway below, then save.").waitFor();
		await page.getByRole("button", { name: new RegExp(host) }).press("Enter");
		assert.equal(await page.getByLabel("Server address").inputValue(), `mdns:xs-mcp-${host}`);
		await takePicture(page, "setup-page");
		await page.getByLabel("Token").fill(String(side.config.token));
		const online = nextOnline(side.gateway.servers);
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("The device has joined Workshop.").waitFor();
		await online;
	});

	itSetup("reports that the backend did not answer, and saves it only on request", async ({ log, url }, t) => {
		const page = await openPage(t, url);
		await page.getByRole("button", { name: /^Workshop/ }).tap();
		await page.getByLabel("Password", { exact: true }).fill("soldering-iron");
		await page.getByLabel("Server address").fill("ws://127.0.0.1:1/");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("The Wi-Fi works, but the server did not answer.").waitFor();
		await takePicture(page, "setup-page-unreached");
		assert.ok(log.some((line) => line.startsWith("set-up: the backend cannot be reached: ")));
		await page.getByRole("button", { name: "Save anyway" }).tap();
		await page.getByText("The device has joined Workshop.").waitFor();
	});

	for (const { locale, title, find, failed, other } of LANGUAGES) {
		itSetup(`speaks the phone's language: ${locale}`, async ({ url }, t) => {
			const page = await openPage(t, url, { locale });
			await page.getByRole("heading", { name: title }).waitFor();
			assert.equal(await page.evaluate("document.documentElement.lang"), locale.slice(0, 2));
			await page.getByRole("button", { name: find }).waitFor();
			await takePicture(page, `setup-page-${locale.slice(0, 2)}`);
			await page.locator("#password").fill("short");
			await page.locator("#ssid").fill("Upstairs 5");
			await page.locator("#send").tap();
			await page.getByText(failed).waitFor();
			await takePicture(page, `setup-page-${locale.slice(0, 2)}-error`);
			// The message is repeated in the other language.
			await page.locator("#language").selectOption(other);
			const { failed: translated } = LANGUAGES.find((each) => each.locale.startsWith(other)) ?? { failed: /^$/ };
			await page.getByText(translated).waitFor();
		});
	}

	itSetup("reports that a network could not be joined, and accepts the form again", async ({ url }, t) => {
		const page = await openPage(t, url, { colorScheme: "dark" });
		await page.getByRole("button", { name: /^Upstairs 5/ }).tap();
		await page.getByLabel("Password", { exact: true }).fill("a wrong password");
		await page.getByRole("button", { name: "Save and connect" }).tap();
		await page.getByText("Could not join Upstairs 5").waitFor();
		await takePicture(page, "setup-page-dark");
		assert.ok(await page.getByRole("button", { name: "Save and connect" }).isEnabled());
	});

	itSetup("loads nothing from elsewhere, and fits a narrow screen", async ({ url }, t) => {
		const page = await openPhonePage(t, { locale: "de-AT", viewport: { width: 320, height: 568 } });
		const asked: string[] = [];
		page.on("request", (request) => asked.push(request.url()));
		await page.goto(url);
		await page.getByRole("button", { name: /^Workshop/ }).waitFor();
		assert.ok(
			asked.every((each) => each.startsWith(url)),
			asked.join(" "),
		);
		assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
		assert.deepEqual(complaintsOf(page), []);
	});
});

it("npm run device -- --setup serves the page, and leads to it whatever is asked", async (t) => {
	const port = await freePort();
	const program = await startNewDevice(port, "--new", "--engine", "v8");
	t.after(() => program.stop());
	const probe = `http://127.0.0.1:${port}/generate_204`;
	const { status, url } = await fetch(probe);
	assert.deepEqual([status, url], [200, `http://127.0.0.1:${port}/`]);
});
