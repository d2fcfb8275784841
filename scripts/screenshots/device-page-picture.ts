import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { chromium, type Page } from "playwright-core";
import { type WebSocket, WebSocketServer } from "ws";
import { CHROMIUM_ARGUMENTS, chromiumPath, whyNoChromium } from "../../toolchain/chromium.js";
import { bundleDevicePage } from "../../toolchain/page-bundles.js";
import { ProgramError } from "../../toolchain/program.js";
import { bundle, chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";

/** A backend that greets its devices, and says what the picture shows. */
class PictureBackend {
	readonly #server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
	#socket: WebSocket | undefined;
	#id = 0;

	constructor() {
		this.#server.on("connection", (socket) => {
			this.#socket = socket;
			socket.once("message", () => this.say({ type: "hello", transport: "websocket", session_id: "s-1" }));
		});
	}

	async listening(): Promise<string> {
		await once(this.#server, "listening");
		return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
	}

	say(message: object): void {
		this.#socket?.send(JSON.stringify(message));
	}

	call(name: string, args: object): void {
		this.#id += 1;
		const payload = { jsonrpc: "2.0", id: this.#id, method: "tools/call", params: { name, arguments: args } };
		this.say({ session_id: "s-1", type: "mcp", payload });
	}

	close(): void {
		this.#socket?.terminate();
		this.#server.close();
	}
}

/** Takes a picture of a virtual device's page. Rejects with ProgramError without Chromium. */
export async function takeDevicePagePicture(path: string): Promise<string> {
	if (chromiumPath === undefined) {
		throw new ProgramError(whyNoChromium ?? "no Chromium here");
	}
	const backend = new PictureBackend();
	const url = await backend.listening();
	const engine = await chooseEngine("xs");
	const device = new VirtualDevice({
		firmware: await bundle(),
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { backend: url },
		macAddress: "02:5e:00:00:10:01",
	});
	const served = await DevicePage.open(device, await bundleDevicePage(), 0);
	const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
	try {
		await device.start();
		const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, colorScheme: "light" });
		await page.goto(served.url);
		await use(page, backend);
		await page.screenshot({ path });
		return path;
	} finally {
		await browser.close();
		served.close();
		device.stop();
		backend.close();
	}
}

/** A conversation, and what a developer of a backend does beside it. */
async function use(page: Page, backend: PictureBackend): Promise<void> {
	await page.locator(".trace li.backend").first().waitFor();
	await page.getByLabel("Temperature").fill("24.5");
	backend.call("self.light.set", { color: "#ff8000", brightness: 80 });
	await page.getByText("led: 80 % of #ff8000").waitFor();
	backend.call("self.audio_speaker.chime", {});
	await page.getByLabel("Last sound").waitFor();
	backend.say({ type: "tts", state: "start" });
	backend.say({ type: "llm", emotion: "happy", text: "😊" });
	backend.say({ type: "tts", state: "sentence_start", text: "今天天气很好，最高25度。" });
	await page.locator(".trace li.backend", { hasText: "sentence_start" }).waitFor();
	// The face is drawn a moment after the message.
	await page.waitForTimeout(1_500);
}
