import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Part } from "../../src/hardware/needs.js";
import { ROOT } from "../../toolchain/root.js";
import { linkForChip } from "./mcconfig.js";
import { type Sdk, SdkError } from "./sdk.js";

/**
 * Bytes of a bare chip's image besides its constant data: XS, the SDK's C, ESP-IDF with Wi-Fi and TLS. The linked image of
 * `esp32` (docs/boards.md) without its constant data as `npm run boards` measures it, about 1,014,000; and the 54,432 by which an
 * ESP32-C3's image with Ethernet is larger than an ESP32's (docs/qemu.md).
 */
const CODE_BYTES = 1_068_432;

/** The same with a screen: the most of the three boards that were linked, `esp32/m5stack_core2`. */
const CODE_BYTES_WITH_SCREEN = 1_163_896;

/** Bytes that a part's C library adds, by linked images of Core2 and CoreS3: libopus, 28,000 less on an ESP32; the driver of cameras. */
const LIBRARY_BYTES: Partial<Record<Part, number>> = { codec: 220_000, camera: 63_000 };

/** The share of its partition that an image must leave free. */
export const LEAST_FREE = 0.05;

const MEGABYTE = 1024 * 1024;

/** The memory of a build. */
export interface BuildMemory {
	/** Size of the flash, in bytes. */
	readonly flashBytes: number;
	/** Whether malloc uses the chip's PSRAM. */
	readonly usesPsram: boolean;
	/** Initial and only memory of XS for strings and buffers. */
	readonly chunkBytes: number;
	/** Value of the setting `chunkBytes`, which limits messages. */
	readonly chunkSetting: number;
	/** Size of the smallest partition for firmware, in bytes. */
	readonly partitionBytes: number;
	/** Paths of the fonts, without `.fnt`. */
	readonly fonts: readonly string[];
}

/** `manifest_flat.json`: all manifests merged by mcconfig. */
interface FlatManifest {
	readonly creation: { readonly chunk: { readonly initial: number } };
	readonly config: { readonly chunkBytes: number };
	readonly resources: { readonly "*-mask"?: readonly string[] };
}

/**
 * Reads the memory of a build from what mcconfig has made of the manifests and the target's ESP-IDF settings.
 *
 * @param folder of the program in the build
 * @param chip ESP-IDF's name: "esp32s3"
 */
export function readMemory(folder: string, chip: string): BuildMemory {
	const read = (path: string): string => readFileSync(join(folder, path), "utf8");
	const { creation, config, resources }: FlatManifest = JSON.parse(read("manifest_flat.json"));
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
		usesPsram: isSet("SPIRAM") && !isSet("SPIRAM_USE_CAPS_ALLOC"),
		chunkBytes: creation.chunk.initial,
		chunkSetting: config.chunkBytes,
		partitionBytes: Math.min(...apps.map(([, , , , size]) => Number(size))),
		fonts: resources["*-mask"] ?? [],
	};
}

/**
 * Links the firmware, and estimates the bytes of its image.
 *
 * @param target as mcconfig calls it
 * @param fonts paths of its fonts, without `.fnt` and `.png`; none without a screen
 * @param parts of the board
 * @throws SdkError if it does not link, a tool of the SDK fails or the C compiler has no 32-bit support
 */
export async function estimateImage(
	sdk: Sdk,
	target: string,
	fonts: readonly string[],
	parts: readonly Part[],
): Promise<number> {
	const constant = measureConstantData(sdk, await linkForChip(sdk, ROOT, target));
	const sizes = [
		...fonts.map((font) => measureFont(sdk, font)),
		...parts.map((part) => LIBRARY_BYTES[part] ?? 0),
		fonts.length > 0 ? CODE_BYTES_WITH_SCREEN : CODE_BYTES,
	];
	return sizes.reduce((sum, size) => sum + size, constant);
}

/**
 * Bytes of constant data.
 *
 * @param linked the linker's output
 * @throws SdkError if the C compiler has no 32-bit support
 * @internal exported for its test
 */
export function measureConstantData({ root }: Sdk, linked: string): number {
	const folders = [...["platforms", "includes", "sources"].map((name) => join(root, "xs", name)), dirname(linked)];
	const object = `${linked}.o`;
	run("gcc", ["-m32", "-c", "-w", ...folders.map((folder) => `-I${folder}`), linked, "-o", object]);
	const [, line = ""] = run("size", [object]).split("\n");
	const [text = 0, data = 0] = line.trim().split(/\s+/).map(Number);
	return text + data;
}

/** The bytes of a font in an image, as the SDK's tools compress it. */
function measureFont({ bin }: Sdk, font: string): number {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-font-"));
	try {
		const name = basename(font);
		run(join(bin, "png2bmp"), [`${font}.png`, "-a", "-o", folder, "-t"]);
		run(join(bin, "compressbmf"), [`${font}.fnt`, "-i", join(folder, `${name}-alpha.bmp`), "-o", folder]);
		return statSync(join(folder, `${name}.bf4`)).size;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function run(program: string, args: readonly string[]): string {
	const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
	if (status !== 0) {
		throw new SdkError(`${program}, which measures what was linked, failed: ${error?.message ?? stderr.trim()}`);
	}
	return stdout;
}
