import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { PRESETS } from "xs-mcp/build/board-manifest";
import { configureBuild, prepareTarget } from "xs-mcp/moddable/mcconfig";
import { findTarget, NAMED } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { noSdk, sdk } from "../support/sdk.js";

const OWN = join(ROOT, "src/hardware/boards/esp32/sdkconfig");

function optionsIn(file: string): string[] {
	const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
	return lines.map((line) => line.trim()).filter((line) => line.startsWith("CONFIG_"));
}

const EVERY_BUILD = optionsIn(join(OWN, "sdkconfig.defaults"));
const WITHOUT_DEBUGGER = optionsIn(join(OWN, "sdkconfig.defaults.release"));

it("the emulated board has the settings of ESP-IDF that chips have", () => {
	for (const name of ["sdkconfig.defaults", "sdkconfig.defaults.release"]) {
		const own = optionsIn(join(OWN, name));
		assert.deepEqual(optionsIn(join(ROOT, "host-test/fixtures/qemu", name)).slice(-own.length), own);
	}
});

/** The settings that mcconfig merges for a target: values by name. */
async function mergedFor(chip: string, target: string): Promise<ReadonlyMap<string, string>> {
	const file = join(await configureBuild(sdk, ROOT, target), `xsProj-${chip}`, "sdkconfig.mc");
	return new Map(optionsIn(file).map((option) => option.split(/=(.*)/s) as [string, string]));
}

function expectOwn(merged: ReadonlyMap<string, string>): void {
	for (const option of [...EVERY_BUILD, ...WITHOUT_DEBUGGER]) {
		const [key = "", value] = option.split("=");
		// mcconfig writes nothing for an "n" that the SDK's base file has, and ESP-IDF takes its default: n.
		assert.equal(merged.get(key) || "n", value, key);
	}
}

/** Choices of ESP-IDF that depend on the board's memory. */
const MEMORY = ["FLASHSIZE_", "FLASHMODE_", "SPIRAM", "SPIRAM_MODE_", "SPIRAM_SPEED_", "REV_MIN_"];

/** Returns the last option that is set of each choice. ESP-IDF has defaults for PSRAM. */
function memoryIn(options: readonly string[]): readonly string[] {
	const set = ["CONFIG_SPIRAM_MODE_QUAD=y", "CONFIG_SPIRAM_SPEED_40M=y", ...options].filter((each) =>
		each.endsWith("=y"),
	);
	return MEMORY.map((choice) => {
		const name = `_${choice}${choice === "SPIRAM" ? "=" : ""}`;
		return set.filter((each) => each.includes(name)).at(-1) ?? "";
	});
}

describe("settings of ESP-IDF", { skip: noSdk }, () => {
	for (const target of NAMED) {
		it(`of ${target} have the SDK target's flash and PSRAM, and the firmware's own`, async () => {
			const { chip } = findTarget(sdk, target);
			const devices = join(sdk.root, "build/devices/esp32");
			const theirs = [`xsProj-${chip}`, `targets/${basename(target)}/sdkconfig`].flatMap((folder) =>
				optionsIn(join(devices, folder, "sdkconfig.defaults")),
			);
			const merged = await mergedFor(chip, target);
			expectOwn(merged);
			assert.deepEqual(
				memoryIn([...merged].map((option) => option.join("="))),
				// The partitions of the firmware end at 16 MB.
				memoryIn(theirs).map((option) => option.replace("FLASHSIZE_32MB", "FLASHSIZE_16MB")),
			);
			// A choice of ESP-IDF takes the last option that is set.
			const panics = [...merged].filter(([key, value]) => key.startsWith("CONFIG_ESP_SYSTEM_PANIC_") && value === "y");
			assert.deepEqual(
				panics.map(([key]) => key),
				["CONFIG_ESP_SYSTEM_PANIC_PRINT_REBOOT"],
			);
		});
	}

	it("of a maker's board that extends a target of the SDK are followed by the firmware's", async () => {
		const found = findTarget(sdk, PRESETS.get("m5stack_core2") ?? {});
		const target = prepareTarget(sdk, found, ROOT);
		expectOwn(await mergedFor(found.chip, target));
	});
});
