import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readPartitions, readSdkConfig } from "../../../scripts/moddable/idf-settings.js";
import { describePlan, type MemoryPlan, planMemory } from "../../../scripts/moddable/memory-plan.js";
import { findTarget } from "../../../scripts/moddable/targets.js";
import { noSdk, sdk } from "../../support/sdk.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MEGABYTE = 1024 * 1024;

const PLAN: MemoryPlan = {
	target: { name: "esp32/some_board", chip: "esp32s3", board: "some_board", bare: false },
	flashBytes: 8 * MEGABYTE,
	psram: "malloc",
	chunkBytes: 262_144,
	slots: 12_288,
	stackSlots: 1024,
	messageBytes: 32_768,
	partitions: [{ name: "factory", type: "app", bytes: 2 * MEGABYTE, end: 3 * MEGABYTE }],
	fonts: [],
};

describe("the settings of ESP-IDF", () => {
	it("tell the size of the flash and whether malloc uses PSRAM", () => {
		const lines = ["CONFIG_ESPTOOLPY_FLASHSIZE_16MB=y", "CONFIG_SPIRAM=y", "CONFIG_SPIRAM_USE_MALLOC=y"];
		assert.deepEqual(readSdkConfig(lines.join("\n")), { flashBytes: 16 * MEGABYTE, psram: "malloc" });
		lines.push("CONFIG_SPIRAM_USE_CAPS_ALLOC=y");
		assert.equal(readSdkConfig(lines.join("\n")).psram, "reserved");
	});

	it("that come later override earlier ones, and comments say nothing", () => {
		const lines = [
			"CONFIG_SPIRAM=y",
			"CONFIG_SPIRAM=n",
			"# CONFIG_SPIRAM=y",
			"CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y",
			"CONFIG_ESPTOOLPY_FLASHSIZE_8MB=y",
			"CONFIG_ESPTOOLPY_FLASHSIZE_16MB=n",
		];
		assert.deepEqual(readSdkConfig(lines.join("\n")), { flashBytes: 8 * MEGABYTE, psram: "none" });
	});
});

it("partitions are read from ESP-IDF's table, in bytes", () => {
	const table = "# a comment\n\nnvs, data, nvs, 0x9000, 0x6000,\nota_0, app, ota_0, , 2M,\nstorage,data,spiffs,,64K\n";
	assert.deepEqual(readPartitions(table), [
		{ name: "nvs", type: "data", bytes: 0x6000, end: 0xf000 },
		{ name: "ota_0", type: "app", bytes: 2 * MEGABYTE, end: 0xf000 + 2 * MEGABYTE },
		{ name: "storage", type: "data", bytes: 0x10000, end: 0x1f000 + 2 * MEGABYTE },
	]);
});

describe("a memory plan", () => {
	it("prints the memory of XS, the longest message and the partitions", () => {
		assert.equal(
			describePlan(PLAN),
			[
				"Memory of esp32/some_board (esp32s3, 8 MB flash, PSRAM):",
				"  chunks             262144 bytes   256 KB         in PSRAM",
				"  slots               12288 slots   192 KB         in PSRAM",
				"  stack                1024 slots    16 KB  in internal RAM",
				"  longest message     32768 bytes",
				"  partition factory           app  2048 KB",
			].join("\n"),
		);
	});

	it("takes nothing from PSRAM that malloc does not use", () => {
		const text = describePlan({ ...PLAN, psram: "reserved" });
		assert.match(text, /PSRAM that malloc does not use/);
		assert.doesNotMatch(text, /in PSRAM/);
	});

	it("is made from the manifests and the SDK's target", { skip: noSdk }, async () => {
		const plan = await planMemory(sdk, ROOT, findTarget(sdk, "esp32/m5stack_cores3"), []);
		const { flashBytes, psram, chunkBytes, slots, messageBytes } = plan;
		assert.deepEqual(
			{ flashBytes, psram, chunkBytes, slots, messageBytes },
			{ flashBytes: 16 * MEGABYTE, psram: "malloc", chunkBytes: 262_144, slots: 12_288, messageBytes: 32_768 },
		);
		const small = findTarget(sdk, "esp32/c3_32s_kit_2m");
		await assert.rejects(planMemory(sdk, ROOT, small, []), /2m has 2 MB of flash, and the partitions/);
		assert.ok(plan.partitions.some(({ type, bytes }) => type === "app" && bytes > MEGABYTE));
	});
});
