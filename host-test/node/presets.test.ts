import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PRESETS } from "xs-mcp/build/board-manifest";
import { checkTarget } from "xs-mcp/build/check-board";
import { ROOT } from "xs-mcp/root";
import { startDevice } from "xs-mcp/test";
import { bundle, chooseEngine, profileOf } from "xs-mcp-virtual-device";
import * as vendorBoards from "../fixtures/vendor-boards.js";

const TEXT = readFileSync(join(ROOT, "src/hardware/boards/presets.json"), "utf8");

describe("presets of boards", () => {
	for (const [name, data] of PRESETS) {
		it(`${name} has pins and drivers that its chip and the SDK can use`, () => {
			checkTarget(data);
		});
	}

	it("are forty at least, each with the source of its pins and at most 25 lines of data", () => {
		assert.ok(PRESETS.size >= 40, `${PRESETS.size}`);
		const [, ...texts] = TEXT.split(/^\t"(?=\w+": \{$)/m);
		assert.equal(texts.length, PRESETS.size);
		for (const text of texts.filter((each) => !each.startsWith('esp32"'))) {
			assert.match(text, /^\t\t"source": "/m);
			const lines = text.match(/^\t\t.*(?<!"(title|source|note)": .*)$/gm)?.length ?? 0;
			assert.ok(lines <= 25, `${lines} lines: ${text}`);
		}
	});

	it("are not needed for a board that none has: its maker's pin table is enough", () => {
		for (const data of Object.values(vendorBoards)) {
			checkTarget(data);
		}
	});

	it("give a virtual device screens of their sizes", async (t) => {
		const engine = await chooseEngine("v8");
		const firmware = await bundle();
		const sizes = { lilygo_ttgo: [240, 135], m5dial: [240, 240], ws_esp32s3_touch_1_69: [240, 280] };
		for (const [name, [width, height]] of Object.entries(sizes)) {
			const build = { firmware, name, config: {}, board: profileOf(`esp32/${name}`), warnings: [] };
			const { device, call } = await startDevice(build, engine, () => {});
			t.after(() => device.stop());
			assert.deepEqual(await call("self.screen.get_info"), { width, height, monochrome: false }, name);
		}
	});
});
