import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import jpeg from "jpeg-js";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { makePng } from "../../toolchain/fonts/bm-font.js";
import { listen } from "../support/listen.js";
import { until } from "../support/until.js";
import { findPeer } from "./peers.js";
import { Relay } from "./relay.js";
import { ScriptedModel } from "./scripted-model.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const sdk = findSdk();
const hasXdotool = spawnSync("xdotool", ["version"]).error === undefined;
const { title, folder = "", skip } = findPeer("XIAOZHI_SERVER");

/** A server that takes the screen's snapshot: its address, and the JPEG file in the form that has come. */
async function takeUploads(t: TestContext) {
	const uploads: Buffer[] = [];
	const server = createServer(async (request, response) => {
		const bytes = await buffer(request);
		const form = bytes;
		uploads.push(form.subarray(form.indexOf(Buffer.of(0xff, 0xd8)), form.lastIndexOf(Buffer.of(0xff, 0xd9)) + 2));
		response.end("{}");
	});
	return { url: `http://127.0.0.1:${await listen(t, server)}/`, uploads };
}

/** Where the button is on the simulator's display. */
const BUTTON = ["159", "66"];

/** The firmware in the simulator with this backend, and how its button is pressed. */
async function start(t: TestContext, backend: string) {
	const settings = [`backend=${backend}`, "events=button", "language=zh"];
	const library = await buildForSimulator(sdk as Sdk, ROOT, settings);
	const simulator = await Simulator.start(sdk as Sdk, library, { headless: true });
	t.after(() => simulator.stop());
	const mouse = (...args: string[]): void => {
		const env = { ...process.env, DISPLAY: simulator.display };
		assert.equal(spawnSync("xdotool", args, { env }).status, 0, args.join(" "));
	};
	return async (): Promise<void> => {
		mouse("mousemove", ...BUTTON);
		mouse("mousedown", "1");
		await delay(200);
		mouse("mouseup", "1");
	};
}

describe(`${title}, with the firmware in Moddable's simulator`, {
	skip: skip || (sdk === undefined && NO_SDK) || (!hasXdotool && "xdotool is not installed"),
}, () => {
	it("the server's model hears of a press of the button, and its Chinese answer is on the screen", async (t) => {
		const model = await ScriptedModel.listen(t, "🙂今天天气很好，最高25度，出门别忘了带水。");
		const server = await startXiaozhiServer(t, folder, { modelUrl: model.url });
		const relay = await Relay.listen(t, server.url);
		const press = await start(t, relay.url);
		await until(() => server.program.output.includes("客户端设备支持的工具数量"), "the server has the tools");
		await press();
		await relay.saw("the end", ({ from, message }) => from === "backend" && message.state === "stop");
		assert.deepEqual(model.queries, ["按钮“button”被按下了。"]);
		const { url, uploads } = await takeUploads(t);
		const params = { name: "self.screen.snapshot", arguments: { url, quality: 95 } };
		relay.sayAsBackend({ type: "mcp", payload: { jsonrpc: "2.0", id: 900, method: "tools/call", params } });
		await relay.saw("the answer", ({ from, message }) => from === "device" && message.payload?.id === 900);
		const { width, height, data } = jpeg.decode(uploads[0] as Buffer, { maxMemoryUsageInMB: 64 });
		assert.deepEqual([width, height], [240, 320]);
		const { SCREENSHOT } = process.env;
		if (SCREENSHOT) {
			writeFileSync(SCREENSHOT, makePng(width, height, data));
		}
	});
});
