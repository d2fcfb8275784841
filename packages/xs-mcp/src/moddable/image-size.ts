import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Part } from "../../../../src/hardware/hardware.js";
import { ROOT } from "../../../root.js";
import { linkForChip, measureData } from "./mcconfig.js";
import type { Sdk } from "./sdk.js";

/**
 * Bytes of a bare chip's image besides its constant data and resources: XS, the SDK's C, ESP-IDF with Wi-Fi and TLS. Of the
 * linked image of `esp32` (docs/boards.md) that is about 1,001,000. Added are the 54,432 by which an ESP32-C3's image with
 * Ethernet is larger than an ESP32's (host-test/esp32/README.md).
 */
const CODE_BYTES = 1_055_184;

/** The same with a screen: the most of the three boards that were linked, `esp32/m5stack_core2`. */
const CODE_BYTES_WITH_SCREEN = 1_150_595;

/** Bytes that a part's C library adds, by linked images of Core2 and CoreS3: libopus, 28,000 less on an ESP32; the driver of cameras. */
const LIBRARY_BYTES: Partial<Record<Part, number>> = { codec: 220_000, camera: 63_000 };

const MEGABYTE = 1024 * 1024;

/** `manifest_flat.json`: all manifests merged by mcconfig. */
interface FlatManifest {
	readonly creation: { readonly chunk: { readonly initial: number } };
	readonly config: { readonly chunkBytes: number };
}

/**
 * Reads the memory of a build, in bytes, from what mcconfig has made of the manifests and the target's ESP-IDF settings.
 *
 * @param folder of the program in the build
 * @param chip ESP-IDF's name: "esp32s3"
 */
export function readMemory(folder: string, chip: string) {
	const read = (path: string): string => readFileSync(join(folder, path), "utf8");
	const { creation, config }: FlatManifest = JSON.parse(read("manifest_flat.json"));
	const options = read(`xsProj-${chip}/sdkconfig.mc`).matchAll(/^CONFIG_(\w+)=(.*)$/gm);
	const settings = new Map([...options].map(([, key = "", value]) => [key, value]));
	const isSet = (key: string): boolean => settings.get(key) === "y";
	// A choice of ESP-IDF takes the last option that is set: the SDK's base file has 4 MB.
	const flash = [...settings.keys()].filter((key) => key.startsWith("ESPTOOLPY_FLASHSIZE_") && isSet(key)).at(-1);
	const apps = read(`xsProj-${chip}/partitions.csv`)
		.split("\n")
		.map((line) => line.split(",").map((field) => field.trim()))
		.filter(([, type]) => type === "app");
	return {
		flashBytes: Number(/\d+/.exec(flash ?? "")?.[0]) * MEGABYTE,
		/** Whether malloc uses the chip's PSRAM. */
		usesPsram: isSet("SPIRAM") && !isSet("SPIRAM_USE_CAPS_ALLOC"),
		/** Initial and only memory of XS for strings and buffers, and the setting of that name, which limits messages. */
		chunkBytes: creation.chunk.initial,
		chunkSetting: config.chunkBytes,
		/** The smallest partition for firmware. */
		partitionBytes: Math.min(...apps.map(([, , , , size]) => Number(size))),
	};
}

/**
 * Links the firmware, and estimates the bytes of its image.
 *
 * @param target as mcconfig calls it
 * @param parts of the board
 * @throws ProgramError if it does not link, or the C compiler has no 32-bit support
 */
export async function estimateImage(sdk: Sdk, target: string, parts: readonly Part[]): Promise<number> {
	const constant = measureData(sdk, await linkForChip(sdk, ROOT, target));
	const resources = measureData(sdk, await linkForChip(sdk, ROOT, target, [], "mc.resources.c"));
	const code = parts.includes("screen") ? CODE_BYTES_WITH_SCREEN : CODE_BYTES;
	return parts.reduce((sum, part) => sum + (LIBRARY_BYTES[part] ?? 0), constant + resources + code);
}
