import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import type { GlyphSet } from "xs-mcp-virtual-device/bm-font";
import { drawFaceOf } from "xs-mcp-virtual-device/drawn-screen";
import { whyMissing } from "../support/optional-program.js";
import { noSdk } from "../support/sdk.js";
import type { Simulator } from "../support/simulator.js";
import { until } from "../support/testing.js";
import { startSimulatorOnline } from "./start-simulator.js";

/** The firmware with the glyphs of a board that has 4 MB of flash. */
const MANIFEST = fileURLToPath(new URL("../fixtures/manifest_small-flash.json", import.meta.url));

const TEXT = "今天天气很好，最高25°C。明日は晴れ、Grüße!";

/** The first row of the words on the simulator's screen: three lines of 18 pixels fit below it. */
const WORDS_TOP = 258;

/** Position of the first device's screen in the simulator's window, in pixels. */
const SCREEN = { left: 349, top: 82, width: 240, height: 320 };

/** Tolerance of lightness: the screen has 5 or 6 bits a colour. */
const TOLERANCE = 80;

const skip = noSdk || whyMissing("import", "imagemagick");

function look({ display }: Simulator): Buffer {
	const { left, top, width, height } = SCREEN;
	const args = ["-window", "root", "-crop", `${width}x${height}+${left}+${top}`, "-depth", "8", "rgba:-"];
	const { stdout } = spawnSync("import", args, { env: { ...process.env, DISPLAY: display } });
	assert.equal(stdout.length, 4 * width * height);
	return stdout;
}

/** Pixels of the words that are light on one screen and dark on the other. */
function differences(seen: Buffer, charset: GlyphSet): number {
	const { pixels } = drawFaceOf({ ...SCREEN, brightness: 75, theme: "light", state: "idle", message: TEXT }, charset);
	let different = 0;
	for (let at = 4 * SCREEN.width * WORDS_TOP; at < seen.length; at += 4) {
		different += Math.abs((seen[at] as number) - (pixels[at] as number)) > TOLERANCE ? 1 : 0;
	}
	return different;
}

it("glyphs in the simulator, built with those of a 4 MB board, come from the gateway with a client's text, and are on the screen instead of boxes", {
	skip,
}, async (t) => {
	const { simulator, base, server } = await startSimulatorOnline(t, MANIFEST);
	const client = await connectClient(t, new URL(`${base}/mcp/${server.alias}`), "2025-11-25");
	await client.callTool({ name: "self_screen_show_text", arguments: { text: TEXT, seconds: 3_600 } });
	await until(() => differences(look(simulator), "cjk") < 20, "the text is on the screen");
	const asBoxes = differences(look(simulator), "latin");
	assert.ok(asBoxes > 1_000, `${asBoxes} pixels differ from boxes`);
});
