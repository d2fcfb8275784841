import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { makeStateFolder } from "../../gateway/test/support/program.js";
import { complaintsOf, openPage, whyNoChromium } from "../support/chromium.js";
import { until } from "../support/until.js";
import { startWithConsole } from "./console-page.js";
import { ENGINE, startDevice } from "./fixtures.js";
import type { BoardState } from "./serial-board.js";

// Flashing and setting up a board from the console, up to the port: serial-board.ts is at its other end.

/** Files of an image: the second one is written in several blocks. */
const BOOTLOADER = "bootloader".repeat(100);
const FIRMWARE = Array.from({ length: 20_000 }, (_, at) => ((at * 2_654_435_761) >>> 7).toString(36).padStart(8)).join(
	"",
);

function makeImages(chipFamily = "ESP32-C3"): string {
	const folder = makeStateFolder();
	const board = join(folder, "esp32c3");
	mkdirSync(board);
	const parts = [
		{ path: "bootloader.bin", offset: 0 },
		{ path: "xs_esp32.bin", offset: 0x10000 },
	];
	const manifest = { name: "xs-mcp for esp32c3", version: "1.2.3", builds: [{ chipFamily, parts }] };
	writeFileSync(join(board, "manifest.json"), JSON.stringify(manifest));
	writeFileSync(join(board, "bootloader.bin"), BOOTLOADER);
	writeFileSync(join(board, "xs_esp32.bin"), FIRMWARE);
	return folder;
}

/** The board's side as a script for the page. */
async function boardScript(): Promise<string> {
	const entryPoints = [fileURLToPath(new URL("serial-board.ts", import.meta.url))];
	const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: "iife", logLevel: "error" });
	return outputFiles[0]?.text ?? "";
}

interface FlashOptions {
	readonly firmwareFolder?: string;
	/** A script that the page runs first. Default: a board at the port. */
	readonly script?: string;
}

async function openFlashView(t: TestContext, { firmwareFolder = makeImages(), script }: FlashOptions = {}) {
	const gateway = await startWithConsole(t, { firmwareFolder, bootstrap: "approve" });
	const page = await openPage(t, { locale: "en-GB", viewport: { width: 1280, height: 900 } });
	await page.addInitScript({ content: script ?? (await boardScript()) });
	await page.goto(`${gateway.base}/#/flash`);
	return { gateway, page };
}

async function boardOf(page: Page): Promise<BoardState> {
	return await page.evaluate(() => (globalThis as never as { board: BoardState }).board);
}

describe("flashing a board from the console in Chromium", { skip: whyNoChromium }, () => {
	it("writes an image over a cable, sets up the Wi-Fi, and shows the board that waits for approval", async (t) => {
		const { gateway, page } = await openFlashView(t);
		const loaded: string[] = [];
		page.on("request", (request) => loaded.push(request.url()));
		await page.getByText("esp32c3 · ESP32-C3 · 1.2.3").waitFor({ state: "attached" });
		await page.getByLabel("Erase everything first").check();
		await page.getByRole("button", { name: "Connect and flash" }).click();
		await page.getByRole("heading", { name: "Wi-Fi" }).waitFor();
		const { written, isErased, baud } = await boardOf(page);
		assert.deepEqual(Object.keys(written), ["0", "65536"]);
		assert.ok(written[0] === BOOTLOADER && written[65_536] === FIRMWARE, "byte by byte");
		assert.deepEqual({ isErased, baud }, { isErased: true, baud: 460_800 });
		assert.ok(
			loaded.some((url) => /\/console\/console-\w+\.js$/.test(url)),
			"the loader is loaded now, not before",
		);

		// The strongest network comes first.
		const names = await page
			.locator("#ssids option")
			.evaluateAll((all) => all.map((each) => each.getAttribute("value")));
		assert.deepEqual(names, ["家", "cellar"]);
		await page.getByLabel("Network").fill("家");
		await page.getByLabel("Password").fill("wrong");
		await page.getByRole("button", { name: "Connect", exact: true }).click();
		await page.getByText("The board could not join this network").waitFor();
		await page.getByLabel("Network").fill("家");
		await page.getByLabel("Password").fill("correct horse");
		await page.getByRole("button", { name: "Connect", exact: true }).click();
		await page.getByText("The board has joined the network").waitFor();
		await page.getByText("http://esp32c3-0001.local/mcp").waitFor();
		assert.deepEqual((await boardOf(page)).joined, ["家", "correct horse"]);

		// A device of the same firmware finds the gateway.
		const config = { otaUrl: `${gateway.base}/xiaozhi/ota/` };
		const { device } = await startDevice(t, ENGINE, { config });
		await page.locator(".pending .code").waitFor();
		await page.getByRole("button", { name: "Approve" }).click();
		await until(() => gateway.gateway.servers.find(device.macAddress)?.online === true, "it is online");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("refuses an image for another chip, and writes nothing", async (t) => {
		const { page } = await openFlashView(t, { firmwareFolder: makeImages("ESP32-S3") });
		await page.getByRole("button", { name: "Connect and flash" }).click();
		await page.getByText("This board has an ESP32-C3, the image is for ESP32-S3.").waitFor();
		assert.deepEqual((await boardOf(page)).written, {});
	});

	it("says which browser can, in one that has no serial ports", async (t) => {
		const { page } = await openFlashView(t, { script: "delete Navigator.prototype.serial" });
		await page.getByText("use Chrome, Edge or Opera on a computer").waitFor();
		assert.equal(await page.getByRole("button", { name: "Connect and flash" }).isDisabled(), true);
	});

	it("explains how to make images if the folder has no image", async (t) => {
		const { page } = await openFlashView(t, { firmwareFolder: makeStateFolder() });
		await page.getByText("No images in firmwareFolder yet").waitFor();
		await page.getByText("npm run firmware").waitFor();
	});
});
