import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sdk } from "./sdk.js";

/**
 * ESP-IDF's bootloader keeps new firmware on trial until it is confirmed, and starts only an image that is whole. At its first
 * start on an ESP32 it would burn a fuse, for good, if the SDK's setting stayed: that of the BASIC interpreter in the chip's ROM.
 * Connections are as many as ESP-IDF has by default, not the SDK's 8: clients that wait for the device's own server must leave
 * some for its backend (`MAX_PENDING` of esp32-tcp.c).
 */
const EVERY_BUILD = {
	ESP32_DISABLE_BASIC_ROM_CONSOLE: "n",
	LWIP_MAX_ACTIVE_TCP: "16",
	BOOTLOADER_APP_ROLLBACK_ENABLE: "y",
	BOOTLOADER_SKIP_VALIDATE_ALWAYS: "n",
	BOOTLOADER_SKIP_VALIDATE_ON_POWER_ON: "n",
};

/**
 * A device without a debugger restarts if its firmware hangs or panics. The SDK feeds the watchdog from the loop that
 * runs the machine. It does not watch the idle tasks: a long step of the machine may starve them. Without these settings some
 * targets (S2, S3, `moddable_six`, `xiao_esp32s3_sense`) wait for a debugger after a panic.
 */
const WITHOUT_DEBUGGER = {
	ESP_TASK_WDT_EN: "y",
	ESP_TASK_WDT_INIT: "y",
	ESP_TASK_WDT_PANIC: "y",
	ESP_TASK_WDT_TIMEOUT_S: "30",
	ESP_TASK_WDT_CHECK_IDLE_TASK_CPU0: "n",
	ESP_TASK_WDT_CHECK_IDLE_TASK_CPU1: "n",
	ESP_SYSTEM_PANIC_GDBSTUB: "n",
	ESP_SYSTEM_PANIC_PRINT_REBOOT: "y",
};

const MEGABYTE = 1024 * 1024;

/** How a chip's PSRAM is used: by malloc, only on explicit request as the SDK's target sets it, or not present. */
export type Psram = "malloc" | "reserved" | "none";

export interface Partition {
	readonly name: string;
	/** "app" or "data". */
	readonly type: string;
	readonly bytes: number;
	/** Where it ends in the flash. */
	readonly end: number;
}

const PROJECT = "xsProj-";

/** mcconfig's names of targets: "esp32", "esp32/NAME", and "esp32:FOLDER/NAME" for one that is not in the SDK. */
const TARGET = /^esp32(?:\/|:(?:.*\/)?)?([^/:]*)$/;

/**
 * Adds settings of ESP-IDF to a build for an ESP32. mcconfig takes such settings from one folder, which is the target's
 * in the SDK. ESP-IDF also reads a file beside the settings that mcconfig writes, whose name ends with the chip's: this
 * is it. It overrides the others.
 *
 * @param output where mcconfig builds
 * @param name the program's
 * @param args as on mcconfig's command line
 */
export function addIdfSettings({ root }: Sdk, output: string, name: string, args: readonly string[]): void {
	const target = TARGET.exec(args[args.indexOf("-p") + 1] ?? "")?.[1];
	if (target === undefined) {
		return;
	}
	const kind = args.includes("-d") ? "debug" : args.includes("-i") ? "instrument" : "release";
	const text = Object.entries({ ...EVERY_BUILD, ...(kind !== "debug" && WITHOUT_DEBUGGER) })
		.map(([key, value]) => `CONFIG_${key}=${value}\n`)
		.join("");
	for (const project of readdirSync(join(root, "build", "devices", "esp32"))) {
		if (project.startsWith(PROJECT)) {
			writeSettings(join(output, "tmp", "esp32", target, kind, name, project), project.slice(PROJECT.length), text);
		}
	}
}

function writeSettings(folder: string, chip: string, text: string): void {
	const file = join(folder, `sdkconfig.mc.${chip}`);
	if (existsSync(file) && readFileSync(file, "utf8") === text) {
		return;
	}
	mkdirSync(folder, { recursive: true });
	writeFileSync(file, text);
	// ESP-IDF is configured again if this is missing.
	rmSync(join(folder, "build", "config", "sdkconfig.h"), { force: true });
}

/** @param settings of ESP-IDF, in which a later line overrides an earlier one */
export function readSdkConfig(settings: string): { flashBytes: number; psram: Psram } {
	let flashBytes = 0;
	let psram = false;
	let psramUse: Psram = "malloc";
	for (const line of settings.split("\n")) {
		const [, key = "", value] = line.match(/^CONFIG_(\w+)=(\w+)/) ?? [];
		const size = key.match(/^ESPTOOLPY_FLASHSIZE_(\d+)MB$/)?.[1];
		if (size !== undefined && value === "y") {
			flashBytes = Number(size) * MEGABYTE;
		} else if (key === "SPIRAM") {
			psram = value === "y";
		} else if (key === "SPIRAM_USE_MALLOC" && value === "y") {
			psramUse = "malloc";
		} else if (key === "SPIRAM_USE_CAPS_ALLOC" && value === "y") {
			psramUse = "reserved";
		}
	}
	return { flashBytes, psram: psram ? psramUse : "none" };
}

/** @param table of ESP-IDF's partitions: name, type, subtype, offset, size. Sizes in bytes, or with K or M */
export function readPartitions(table: string): Partition[] {
	let end = 0;
	return table
		.split("\n")
		.filter((line) => line.trim() !== "" && !line.startsWith("#"))
		.map((line) => line.split(",").map((field) => field.trim()))
		.map(([name = "", type = "", , offset = "", size = ""]) => {
			const bytes = parseSize(size);
			end = (offset === "" ? end : parseSize(offset)) + bytes;
			return { name, type, bytes, end };
		});
}

function parseSize(text: string): number {
	const unit = { K: 1024, M: 1024 * 1024 }[text.slice(-1).toUpperCase()];
	return unit === undefined ? Number(text) : Number(text.slice(0, -1)) * unit;
}
