import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { BOARDS } from "../../../scripts/moddable/boards.js";
import { addIdfSettings } from "../../../scripts/moddable/idf-settings.js";
import { configureForChip } from "../../../scripts/moddable/mcconfig.js";
import type { Sdk } from "../../../scripts/moddable/sdk.js";
import { findTarget } from "../../../scripts/moddable/targets.js";
import { noSdk, sdk } from "../../support/sdk.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Targets that are built as bare chips. */
const BARE = ["esp32", "esp32/esp32c3", "esp32/esp32c6", "esp32/esp32s3"];

function makeFolders(): { sdk: Sdk; output: string } {
	const root = temporaryFolder("xs-mcp-idf-");
	for (const project of ["xsProj-esp32", "xsProj-esp32c3", "targets"]) {
		mkdirSync(join(root, "build", "devices", "esp32", project), { recursive: true });
	}
	return { sdk: { root } as Sdk, output: join(root, "out") };
}

/** As ESP-IDF reads these files, one after another: what comes later overrides what came before. */
function readSettings(...files: readonly string[]): Record<string, string> {
	const settings: Record<string, string> = {};
	for (const line of files.flatMap((file) => readFileSync(file, "utf8").split("\n"))) {
		const [, unset, key = unset, value = "n"] = line.match(/^(?:# CONFIG_(\w+) is not set|CONFIG_(\w+)=(.*))$/) ?? [];
		if (key !== undefined) {
			settings[key] = value;
		}
	}
	return settings;
}

/** Settings of a build, with the argument of mcconfig that names its kind. */
function settingsOf(kind: "debug" | "instrument" | "release"): Record<string, string> {
	const { sdk, output } = makeFolders();
	addIdfSettings(sdk, output, "xs-mcp", [...{ debug: ["-d"], instrument: ["-i"], release: [] }[kind], "-p", "esp32"]);
	return readSettings(join(output, "tmp/esp32", kind, "xs-mcp/xsProj-esp32/sdkconfig.mc.esp32"));
}

it("ESP-IDF finds the settings beside those that mcconfig writes, for every chip", () => {
	const { sdk, output } = makeFolders();
	addIdfSettings(sdk, output, "xs-mcp", ["-p", "esp32/m5stack", "ssid=x"]);
	addIdfSettings(sdk, output, "xs-mcp", ["-d", "-p", "esp32"]);
	addIdfSettings(sdk, output, "xs-mcp", ["-i", "-p", "esp32:src/boards/mine"]);
	for (const [folder, kind] of [
		["m5stack/release", "release"],
		["debug", "debug"],
		["mine/instrument", "instrument"],
	] as const) {
		for (const chip of ["esp32", "esp32c3"]) {
			const file = join(output, "tmp/esp32", folder, "xs-mcp", `xsProj-${chip}`, `sdkconfig.mc.${chip}`);
			assert.deepEqual(readSettings(file), settingsOf(kind));
		}
	}
});

it("a bootloader keeps new firmware on trial, and starts only a whole image, in every build", () => {
	for (const kind of ["debug", "instrument", "release"] as const) {
		const settings = settingsOf(kind);
		assert.equal(settings.BOOTLOADER_APP_ROLLBACK_ENABLE, "y");
		assert.equal(settings.BOOTLOADER_SKIP_VALIDATE_ALWAYS, "n");
	}
});

it("a chip has connections for its backend while eleven clients are served or wait, in every build", () => {
	for (const kind of ["debug", "instrument", "release"] as const) {
		assert.equal(settingsOf(kind).LWIP_MAX_ACTIVE_TCP, "16");
	}
});

it("no build burns a fuse of the chip", () => {
	for (const kind of ["debug", "instrument", "release"] as const) {
		assert.equal(settingsOf(kind).ESP32_DISABLE_BASIC_ROM_CONSOLE, "n");
	}
});

it("firmware without a debugger restarts when it hangs or panics; with one it waits for it", () => {
	const { ESP_TASK_WDT_EN, ESP_TASK_WDT_PANIC, ESP_SYSTEM_PANIC_PRINT_REBOOT } = settingsOf("release");
	assert.deepEqual([ESP_TASK_WDT_EN, ESP_TASK_WDT_PANIC, ESP_SYSTEM_PANIC_PRINT_REBOOT], ["y", "y", "y"]);
	assert.deepEqual(settingsOf("instrument"), settingsOf("release"));
	assert.equal("ESP_TASK_WDT_EN" in settingsOf("debug"), false);
});

it("ESP-IDF is configured again only if the settings are new", () => {
	const { sdk, output } = makeFolders();
	const config = join(output, "tmp/esp32/release/xs-mcp/xsProj-esp32/build/config");
	mkdirSync(config, { recursive: true });
	writeFileSync(join(config, "sdkconfig.h"), "");
	addIdfSettings(sdk, output, "xs-mcp", ["-p", "esp32"]);
	assert.equal(existsSync(join(config, "sdkconfig.h")), false);
	writeFileSync(join(config, "sdkconfig.h"), "");
	addIdfSettings(sdk, output, "xs-mcp", ["-p", "esp32"]);
	assert.equal(existsSync(join(config, "sdkconfig.h")), true);
});

it("a build for the simulator is left alone", () => {
	const { sdk, output } = makeFolders();
	addIdfSettings(sdk, output, "xs-mcp", ["-d", "-p", "lin"]);
	assert.equal(existsSync(output), false);
});

describe("a release build ends up with the settings, whatever its target has", {
	skip: noSdk,
}, () => {
	for (const name of [...new Set([...BARE, ...BOARDS])]) {
		it(name, async () => {
			const made = await configureForChip(sdk, ROOT, name, []);
			const { chip } = findTarget(sdk, name);
			const file = join(made, `xsProj-${chip}`, "sdkconfig.mc");
			const settings = readSettings(file, `${file}.${chip}`);
			for (const [key, value] of Object.entries(settingsOf("release"))) {
				assert.equal(settings[key], value, key);
			}
			// A choice of ESP-IDF's takes the last that is set.
			const panics = Object.keys(settings).filter((key) => /^ESP_SYSTEM_PANIC_\w+$/.test(key) && settings[key] === "y");
			assert.deepEqual(panics, ["ESP_SYSTEM_PANIC_PRINT_REBOOT"]);
		});
	}
});
