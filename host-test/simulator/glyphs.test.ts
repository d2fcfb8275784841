import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import jpeg from "jpeg-js";
import { connectClient, nextOnline } from "../../gateway/test/support/gateway.js";
import { startProgram } from "../../gateway/test/support/program.js";
import { buildForSimulator } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { makePng } from "../../toolchain/fonts/bm-font.js";
import type { GlyphSet } from "../../toolchain/fonts/glyph-sets.js";
import { drawFaceOf } from "../../virtual-device/src/services/drawn-screen.js";

/** The firmware with the glyphs of a board that has 4 MB of flash. */
const FOLDER = fileURLToPath(new URL("small-flash", import.meta.url));

const TEXT = "今天天气很好，最高25°C。明日は晴れ、Grüße!";

/** The first row of the words on the simulator's screen: three lines of 18 pixels fit below it. */
const WORDS_TOP = 258;

/** How far lightness may be from what was drawn: JPEG rounds it. */
const TOLERANCE = 80;

const sdk = findSdk();

interface Picture {
	readonly width: number;
	readonly height: number;
	/** RGBA. */
	readonly data: Uint8Array;
}

/** A gateway, the firmware in the simulator behind it, and a client of it. */
async function connect(t: TestContext) {
	const { program, gateway, base } = await startProgram(t, { userTools: ["*"] });
	const library = await buildForSimulator(sdk as Sdk, FOLDER, [`backend=${program.urls.websocket}`]);
	const online = nextOnline(gateway.servers);
	const simulator = await Simulator.start(sdk as Sdk, library, { headless: true });
	t.after(() => simulator.stop());
	const { alias } = await online;
	return await connectClient(t, new URL(`${base}/mcp/${alias}`), "2025-11-25");
}

/** Pixels of the words that are light in one picture and dark in the other. */
function differences({ width, height, data }: Picture, charset: GlyphSet): number {
	const screen = { width, height, brightness: 75, theme: "light", state: "idle", message: TEXT } as const;
	const { pixels } = drawFaceOf(screen, charset);
	let different = 0;
	for (let at = 4 * width * WORDS_TOP; at < data.length; at += 4) {
		different += Math.abs((data[at] as number) - (pixels[at] as number)) > TOLERANCE ? 1 : 0;
	}
	return different;
}

describe("glyphs in the simulator, built with those of a 4 MB board", { skip: sdk === undefined && NO_SDK }, () => {
	it("come from the gateway with a client's text, and are on the screen instead of boxes", async (t) => {
		const client = await connect(t);
		await client.callTool({ name: "self_screen_show_text", arguments: { text: TEXT, seconds: 3_600 } });
		const { content } = await client.callTool({ name: "self_screen_snapshot", arguments: { quality: 95 } });
		const [text, image] = content as unknown as [{ text: string }, { data?: string }];
		assert.ok(image?.data !== undefined, text.text);
		const picture = jpeg.decode(Buffer.from(image.data, "base64"), { maxMemoryUsageInMB: 64 });
		const { SCREENSHOT } = process.env;
		if (SCREENSHOT) {
			writeFileSync(SCREENSHOT, makePng(picture.width, picture.height, picture.data));
		}
		const asDrawn = differences(picture, "cjk");
		const asBoxes = differences(picture, "latin");
		assert.ok(asDrawn < 20 && asBoxes > 1_000, `${asDrawn} pixels differ from the text, ${asBoxes} from boxes`);
	});
});
