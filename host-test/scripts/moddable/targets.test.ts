import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Sdk } from "../../../scripts/moddable/sdk.js";
import { findTarget } from "../../../scripts/moddable/targets.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const root = temporaryFolder("xs-mcp-targets-");

const CHIPS = {
	m5stack: undefined,
	wt32_eth01: undefined,
	m5stack_cores3: "esp32s3",
	kaluga: "esp32s2",
	esp32h2: "esp32h2",
	esp32p4: "esp32p4",
};

for (const [target, chip] of Object.entries(CHIPS)) {
	const folder = join(root, "build", "devices", "esp32", "targets", target);
	mkdirSync(folder, { recursive: true });
	const defines = target === "wt32_eth01" ? { ethernet: {} } : undefined;
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { ESP32_SUBCLASS: chip }, defines }));
}
const sdk: Sdk = { root, bin: root, host: "lin" };

describe("targets", () => {
	it("have the board whose folder manifest.json includes for them", () => {
		assert.deepEqual(findTarget(sdk, "esp32/m5stack_cores3"), {
			name: "esp32/m5stack_cores3",
			chip: "esp32s3",
			board: "m5stack_cores3",
			isNamed: true,
			hasEthernet: false,
		});
	});

	it("without a board of their own are bare chips", () => {
		const bare = { board: "esp32", hasEthernet: false };
		assert.deepEqual(findTarget(sdk, "esp32"), { name: "esp32", chip: "esp32", isNamed: true, ...bare });
		assert.deepEqual(findTarget(sdk, "esp32/kaluga"), {
			name: "esp32/kaluga",
			chip: "esp32s2",
			isNamed: false,
			...bare,
		});
	});

	it("with Ethernet are found: the firmware uses their Wi-Fi", () => {
		assert.ok(findTarget(sdk, "esp32/wt32_eth01").hasEthernet);
	});

	it("are rejected if their chip has no Wi-Fi, with the reason", () => {
		assert.throws(
			() => findTarget(sdk, "esp32/esp32h2"),
			/esp32h2 has the chip esp32h2, which has no Wi-Fi: its radio/,
		);
		assert.throws(() => findTarget(sdk, "esp32/esp32p4"), /which has no Wi-Fi: it has no radio$/);
	});

	it("are rejected if the SDK does not know them, with the nearest name", () => {
		assert.throws(
			() => findTarget(sdk, "esp32/m5stack_core3"),
			/^SdkError: --target: unknown target esp32\/m5stack_core3\. Did you mean esp32\/m5stack_cores3\?$/,
		);
		assert.throws(() => findTarget(sdk, "m5stack_cores3"), /Did you mean/);
		assert.throws(() => findTarget(sdk, "esp32/refrigerator"), /unknown target .*\. docs\/boards\.md lists the boards/);
	});
});
