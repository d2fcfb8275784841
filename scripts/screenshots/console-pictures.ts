import { setTimeout as delay } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGUMENTS, chromiumPath, whyNoChromium } from "../chromium.js";
import { ProgramError } from "../program.js";
import { type ConsoleFleet, startFleet, startWaitingDevice } from "./console-fleet.js";

/** Milliseconds for which sensors change before the picture of a device. */
const FOLLOWED = 24_000;

/** Takes pictures of the gateway's console with a house of virtual devices. Rejects with ProgramError without Chromium. */
export async function takeConsolePictures(folder: string): Promise<string[]> {
	if (chromiumPath === undefined) {
		throw new ProgramError(whyNoChromium ?? "no Chromium here");
	}
	const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
	const fleet = await startFleet();
	try {
		await useDevices(fleet);
		return [
			await pictureOf(browser, fleet, `${folder}console-device.png`, "light", showDevice),
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
			await server.call("claude-desktop", status, {}, {});
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
	await page.getByLabel("Follow").check();
	const workshop = devices.get("workshop");
	const session = program.gateway.servers.find("workshop")?.session;
	for (let elapsed = 0; elapsed < FOLLOWED; elapsed += 1_000) {
		const phase = elapsed / 4_000;
		workshop?.measure("temperature", Math.round((21 + 3 * Math.sin(phase)) * 10) / 10);
		workshop?.measure("light", Math.round(300 + 180 * Math.cos(phase * 1.7)));
		const hour = elapsed % 9_000;
		if (hour === 3_000 || hour === 6_000) {
			session?.sendMessage({ type: "tts", state: hour === 3_000 ? "start" : "stop" });
		}
		await delay(1_000);
	}
}
