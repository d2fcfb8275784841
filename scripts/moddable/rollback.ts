import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sdk } from "./sdk.js";

/** Has ESP-IDF's bootloader keep new firmware on trial until it is confirmed. */
const SETTING = "CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE=y\n";

const PROJECT = "xsProj-";

/** mcconfig's names of targets: "esp32", "esp32/NAME", and "esp32:FOLDER/NAME" for one that is not in the SDK. */
const TARGET = /^esp32(?:\/|:(?:.*\/)?)?([^/:]*)$/;

/**
 * Adds a setting of ESP-IDF to a build for an ESP32. mcconfig takes such settings from one folder, which is the target's in
 * the SDK. ESP-IDF also reads a file beside the settings that mcconfig writes, whose name ends with the chip's: this is it.
 *
 * @param output where mcconfig builds
 * @param name the program's
 * @param args as on mcconfig's command line
 */
export function enableRollback({ root }: Sdk, output: string, name: string, args: readonly string[]): void {
	const target = TARGET.exec(args[args.indexOf("-p") + 1] ?? "")?.[1];
	if (target === undefined) {
		return;
	}
	const kind = args.includes("-d") ? "debug" : args.includes("-i") ? "instrument" : "release";
	for (const project of readdirSync(join(root, "build", "devices", "esp32"))) {
		if (project.startsWith(PROJECT)) {
			addSetting(join(output, "tmp", "esp32", target, kind, name, project), project.slice(PROJECT.length));
		}
	}
}

function addSetting(folder: string, chip: string): void {
	const file = join(folder, `sdkconfig.mc.${chip}`);
	if (existsSync(file) && readFileSync(file, "utf8") === SETTING) {
		return;
	}
	mkdirSync(folder, { recursive: true });
	writeFileSync(file, SETTING);
	// ESP-IDF is configured again if this is missing.
	rmSync(join(folder, "build", "config", "sdkconfig.h"), { force: true });
}
