import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { complaintsOf, openPage, whyNoChromium } from "../host-test/support/chromium.js";
import { APPS, openPanel } from "../host-test/support/open-panel.js";
import { until } from "../host-test/support/testing.js";
import { startWithConsole } from "./console-page.js";
import { ENGINE, startDevice } from "./fixtures.js";

interface HostOptions {
	readonly title?: string;
	readonly locale?: string;
	readonly theme?: string;
}

async function openHost(t: TestContext, { title, ...options }: HostOptions = {}) {
	const gateway = await startWithConsole(t);
	const { device } = await startDevice(t, ENGINE, {
		config: { backend: gateway.deviceUrl },
	});
	await until(() => gateway.gateway.servers.find(device.macAddress)?.online === true, "the device is online");
	if (title !== undefined) {
		await gateway.gateway.servers.edit(device.macAddress, { title });
	}
	const client = new Client({ name: "host", version: "1.0.0" }, { capabilities: APPS });
	t.after(() => client.close());
	await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.base}/mcp?catalog=full`)));
	const page = await openPage(t, { locale: "en-GB", viewport: { width: 720, height: 900 } });
	const context = { theme: "light", locale: "en-GB", ...options };
	const { panel, calls } = await openPanel(page, client, context);
	return { gateway, device, page, panel, calls };
}

describe("the panel of a device in Chromium, by MCP Apps' host library", { skip: whyNoChromium }, () => {
	it("shows the state, sets the volume, takes a photo and follows the device, all through the host", async (t) => {
		const { gateway, device, page, panel, calls } = await openHost(t, { title: "厨房" });
		const server = gateway.gateway.servers.find(device.macAddress);
		await panel.getByRole("heading", { name: "厨房" }).waitFor();
		await panel.locator(".badge", { hasText: "idle" }).waitFor();
		server?.connection?.send({ type: "tts", state: "start" });
		await panel.locator(".badge", { hasText: "speaking" }).waitFor();
		const slider = panel.getByRole("slider", { name: "Volume" });
		await until(async () => (await slider.inputValue()) === "70", "the slider stands where the volume is");
		await slider.fill("12");
		await until(() => calls.some((name) => name.endsWith("__self_audio_speaker_set_volume")), "the host is asked");
		await panel.getByRole("switch", { name: "Light" }).click();
		await panel.getByRole("switch", { name: "Light", checked: true }).waitFor();
		assert.ok(
			calls.some((name) => name.endsWith("__self_light_set")),
			"one tap switches the light",
		);
		await panel.getByRole("button", { name: "Take photo" }).click();
		const photo = panel.locator("figure img");
		await until(async () => ((await photo.boundingBox())?.height ?? 0) > 50, "the photo is drawn");
		device.measure("temperature", 31.5);
		await panel.getByText("31.5").waitFor();
		const { height } = await page.evaluate(() => (globalThis as never as { panelSize: { height: number } }).panelSize);
		assert.ok(height > 200, `the host is told the height: ${height}`);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("has the host's language and theme, and no fault that axe-core finds", async (t) => {
		const { gateway, device, page, panel } = await openHost(t, { locale: "ja-JP", theme: "dark" });
		const { alias } = gateway.gateway.servers.find(device.macAddress) ?? {};
		await panel.getByRole("heading", { name: `${alias}`, exact: true }).waitFor();
		await panel.getByRole("heading", { name: "最新の画像" }).waitFor();
		const frame = page.frames().find((each) => each !== page.mainFrame());
		assert.equal(await frame?.evaluate(() => document.documentElement.style.colorScheme), "dark");
		assert.equal(await frame?.evaluate(() => document.documentElement.lang), "ja");
		const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
		await frame?.addScriptTag({ content: axe });
		const found = await frame?.evaluate(async () => {
			const { violations } = await (
				globalThis as never as { axe: { run(): Promise<{ violations: { id: string }[] }> } }
			).axe.run();
			return violations.map(({ id }) => id);
		});
		assert.deepEqual(found, []);
		assert.deepEqual(complaintsOf(page), []);
	});
});
