import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Sdk } from "../../../scripts/moddable/sdk.js";
import { findTarget, targetsWithBoards } from "../../../scripts/moddable/targets.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const root = temporaryFolder("xs-mcp-targets-");

const CHIPS = {
	m5stack: undefined,
	m5stack_cores3: "esp32s3",
	kaluga: "esp32s2",
	esp32h2: "esp32h2",
	esp32p4: "esp32p4",
};

for (const [target, chip] of Object.entries(CHIPS)) {
	const folder = join(root, "build", "devices", "esp32", "targets", target);
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { ESP32_SUBCLASS: chip } }));
}
const sdk: Sdk = { root, bin: root, host: "lin" };

describe("targets", () => {
	it("have the board whose folder manifest.json includes for them", () => {
		assert.deepEqual(findTarget(sdk, "esp32/m5stack_cores3"), {
			name: "esp32/m5stack_cores3",
			chip: "esp32s3",
			board: "m5stack_cores3",
			bare: false,
		});
	});

	it("without a board of their own are bare chips", () => {
		const bare = { board: "esp32", bare: true };
		assert.deepEqual(findTarget(sdk, "esp32"), { name: "esp32", chip: "esp32", ...bare });
		assert.deepEqual(findTarget(sdk, "esp32/kaluga"), { name: "esp32/kaluga", chip: "esp32s2", ...bare });
	});

	it("are rejected if their chip has no Wi-Fi, with the reason", () => {
		assert.throws(
			() => findTarget(sdk, "esp32/esp32h2"),
			/esp32h2 has the chip esp32h2, which has no Wi-Fi: its radio/,
		);
		assert.throws(() => findTarget(sdk, "esp32/esp32p4"), /which has no Wi-Fi: it has no radio$/);
	});

	it("are rejected if the SDK does not know them", () => {
		assert.throws(
			() => findTarget(sdk, "esp32/toaster"),
			/unknown target esp32\/toaster\. Known targets: esp32, esp32\/esp32h2, /,
		);
		assert.throws(() => findTarget(sdk, "lin"), /unknown target lin\./);
	});

	it("with boards of their own are those of manifest.json", () => {
		const targets = targetsWithBoards();
		assert.ok(targets.includes("esp32") && targets.includes("esp32/m5stack_cores3"), String(targets));
		assert.ok(!targets.includes("lin"));
	});
});
