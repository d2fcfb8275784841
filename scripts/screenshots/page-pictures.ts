import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGUMENTS, chromiumPath, whyNoChromium } from "../../toolchain/chromium.js";
import { bundleDevicePage } from "../../toolchain/page-bundles.js";
import { ProgramError } from "../../toolchain/program.js";
import type { VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";
import { type ConsoleFleet, startFleet, startWaitingDevice } from "./console-fleet.js";
import { APPS, openPanel } from "./open-panel.js";

/** Milliseconds for which sensors change before the picture of a device. */
const FOLLOWED = 24_000;

/** The same before the picture of its panel in a chat. */
const PANEL_FOLLOWED = 16_000;

/** Takes pictures of pages with a house of virtual devices. Rejects with ProgramError without Chromium. */
export async function takePagePictures(folder: string): Promise<string[]> {
	if (chromiumPath === undefined) {
		throw new ProgramError(whyNoChromium ?? "no Chromium here");
	}
	const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
	const fleet = await startFleet();
	try {
		await useDevices(fleet);
		return [
			await pictureOf(browser, fleet, `${folder}console-device.png`, "light", showDevice),
			await takePanelPicture(browser, fleet, `${folder}device-panel.png`),
			await takeDevicePagePicture(browser, fleet, `${folder}device-page.png`),
			await pictureOf(browser, fleet, `${folder}console-devices.png`, "dark", showDevices),
		];
	} finally {
		await browser.close();
		await fleet.stop();
	}
}

async function pictureOf(
	browser: Browser,
	fleet: ConsoleFleet,
	path: string,
	colorScheme: "light" | "dark",
	show: (page: Page, fleet: ConsoleFleet) => Promise<void>,
): Promise<string> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, colorScheme, locale: "en-GB" });
	const page = await context.newPage();
	await page.goto(fleet.url);
	await page.getByRole("link", { name: "kitchen" }).waitFor();
	await show(page, fleet);
	await page.screenshot({ path });
	await context.close();
	return path;
}

/** Calls, so that the table has some. */
async function useDevices({ program }: ConsoleFleet): Promise<void> {
	for (const [index, server] of program.gateway.servers.all.entries()) {
		const status = server.tools.find(({ name }) => name === "self.get_device_status");
		for (let count = 0; status !== undefined && count < 3 + index * 4; count += 1) {
			await server.calls.call("claude-desktop", status, {}, {});
		}
	}
}

async function showDevices(page: Page, fleet: ConsoleFleet): Promise<void> {
	fleet.devices.get("garage")?.stop();
	await page.locator(".row .state", { hasText: "offline" }).waitFor();
	await startWaitingDevice(fleet);
	await page.locator(".pending .code").waitFor();
}

async function showDevice(page: Page, { devices, program }: ConsoleFleet): Promise<void> {
	await page.getByRole("link", { name: "workshop" }).click();
	await page.getByRole("button", { name: "Upload screen picture" }).click();
	await page.locator("figure img").waitFor();
	await page.getByLabel("Auto-refresh").check();
	const session = program.gateway.servers.find("workshop")?.session;
	await measureFor(devices.get("workshop"), FOLLOWED, (elapsed) => {
		const hour = elapsed % 9_000;
		if (hour === 3_000 || hour === 6_000) {
			session?.sendMessage({ type: "tts", state: hour === 3_000 ? "start" : "stop" });
		}
	});
}

/** Has the sensors of a device change once a second. @param time milliseconds */
async function measureFor(
	device: VirtualDevice | undefined,
	time: number,
	onSecond: (elapsed: number) => void = () => {},
): Promise<void> {
	for (let elapsed = 0; elapsed < time; elapsed += 1_000) {
		const phase = elapsed / 4_000;
		device?.measure("temperature", Math.round((21 + 3 * Math.sin(phase)) * 10) / 10);
		device?.measure("light", Math.round(300 + 180 * Math.cos(phase * 1.7)));
		onSecond(elapsed);
		await delay(1_000);
	}
}

/** A chat, as applications show one. */
const CHAT = `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 24px; background: #faf9f5; color: #29261b; font: 15px/1.5 system-ui, sans-serif }
.said { width: fit-content; margin: 0 0 16px auto; padding: 8px 14px; border-radius: 14px; background: #ece9df }
.used { margin: 0 0 8px; color: #6b675b; font-size: 13px }
iframe { display: block; width: 100%; height: 700px; border: 1px solid #dedacd; border-radius: 12px; background: #fff }
</style><p class="said">How is it in the workshop? Show me a photo.</p>
<p class="used">Get device status · devices</p><iframe sandbox="allow-scripts"></iframe>`;

/** A device's panel inside a chat. */
async function takePanelPicture(browser: Browser, fleet: ConsoleFleet, path: string): Promise<string> {
	const client = new Client({ name: "chat", version: "1.0.0" }, { capabilities: APPS });
	await client.connect(new StreamableHTTPClientTransport(new URL(`${fleet.program.urls.clients}/workshop`)));
	const page = await browser.newPage({ viewport: { width: 1040, height: 830 }, locale: "en-GB" });
	const { panel } = await openPanel(page, client, { context: { theme: "light", locale: "en-GB" }, html: CHAT });
	await panel.getByRole("button", { name: "Take photo" }).click();
	await panel.locator("figure img").waitFor();
	await measureFor(fleet.devices.get("workshop"), PANEL_FOLLOWED);
	await page.screenshot({ path });
	await page.close();
	await client.close();
	return path;
}

/** The page of a virtual device, during a conversation. */
async function takeDevicePagePicture(browser: Browser, fleet: ConsoleFleet, path: string): Promise<string> {
	const { servers } = fleet.program.gateway;
	const [device, server] = [fleet.devices.get("kitchen"), servers.find("kitchen")];
	if (device === undefined || server === undefined) {
		throw new ProgramError("no device in the kitchen");
	}
	const served = await DevicePage.open(device, await bundleDevicePage(), 0);
	const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, colorScheme: "light" });
	await page.goto(served.url);
	const online = once(servers, "online");
	device.restart();
	await online;
	const call = (name: string, args: object) => server.calls.call("backend", { name, inputSchema: {} } as never, args);
	await page.getByLabel("Temperature").fill("24.5");
	await call("self.light.set", { color: "#ff8000", brightness: 80 });
	await page.getByText("led: 80 % of #ff8000").waitFor();
	await call("self.audio_speaker.chime", {});
	await page.getByLabel("Last sound").waitFor();
	server.session?.sendMessage({ type: "tts", state: "start" });
	server.session?.sendMessage({ type: "llm", emotion: "happy", text: "😊" });
	server.session?.sendMessage({ type: "tts", state: "sentence_start", text: "今天天气很好，最高25度。" });
	await page.locator(".trace li.backend", { hasText: "sentence_start" }).waitFor();
	// The face is drawn a moment after the message.
	await page.waitForTimeout(1_500);
	await page.screenshot({ path });
	await page.close();
	served.close();
	return path;
}
