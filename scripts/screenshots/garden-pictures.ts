import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import { GatewayProgram, makeLog, readConfiguration } from "../../gateway/src/index.js";
import { CHROMIUM_ARGUMENTS, chromiumPath, whyNoChromium } from "../../toolchain/chromium.js";
import { bundleConsole, bundleDevicePage } from "../../toolchain/page-bundles.js";
import { ProgramError } from "../../toolchain/program.js";
import { bundle, chooseEngine, profileOf, VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";

/** What the soil's sensor reads, second by second: it dries, and the pump waters it. */
const SOIL = [1_900, 2_000, 2_150, 2_250, 2_350, 2_450, 2_500, 2_550, 2_600, 2_300, 1_900, 1_500, 1_300, 1_250, 1_240];

/** When the pump is switched on, in seconds. */
const WATERED = 8;

/**
 * Takes pictures of a device of one's own, examples/pump: its page, and the gateway's console. Rejects with ProgramError
 * without Chromium.
 */
export async function takeGardenPictures(folder: string): Promise<string[]> {
	if (chromiumPath === undefined) {
		throw new ProgramError(whyNoChromium ?? "no Chromium here");
	}
	const stateFolder = await mkdtemp(join(tmpdir(), "xs-mcp-"));
	const flags = { httpPort: 0, websocketPort: 0, stateFolder, userTools: "*", logLevel: "error" };
	const consoleFolder = await bundleConsole();
	const program = await GatewayProgram.start(readConfiguration({ flags }), makeLog("error"), { consoleFolder });
	const engine = await chooseEngine("xs");
	const device = new VirtualDevice({
		firmware: await bundle(undefined, false, undefined, "examples/pump/manifest.json"),
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { backend: program.urls.websocket, name: "garden" },
		macAddress: "02:5e:00:00:20:01",
		board: profileOf(),
	});
	const served = await DevicePage.open(device, await bundleDevicePage(), 0, program.urls.console);
	const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
	try {
		const online = once(program.gateway.servers, "online");
		await device.start();
		await online;
		await program.gateway.servers.edit(device.macAddress, { alias: "garden" });
		const [own, console] = await Promise.all([
			browser.newPage({ viewport: { width: 800, height: 420 }, colorScheme: "light" }),
			browser.newPage({ viewport: { width: 1000, height: 720 }, colorScheme: "light", locale: "en-GB" }),
		]);
		await own.goto(served.url);
		await console.goto(program.urls.console ?? "");
		await console.getByRole("link", { name: "garden" }).click();
		await console.getByLabel("Follow").check();
		await console.getByText("Switch on or off").click();
		await water(device, program);
		const paths = [`${folder}garden-page.png`, `${folder}garden-console.png`] as const;
		await own.screenshot({ path: paths[0] });
		await console.screenshot({ path: paths[1] });
		return [...paths];
	} finally {
		await browser.close();
		served.close();
		device.stop();
		await program.close();
		await rm(stateFolder, { recursive: true });
	}
}

async function water(device: VirtualDevice, { gateway }: GatewayProgram): Promise<void> {
	const server = gateway.servers.find("garden");
	const tool = server?.tools.find(({ name }) => name === "self.switch.set");
	for (const [second, level] of SOIL.entries()) {
		device.setPin("soil", level);
		if (second === WATERED && tool !== undefined) {
			await server?.calls.call("claude-desktop", tool, { name: "pump", on: true, seconds: 20 }, {});
		}
		await delay(1_000);
	}
}
