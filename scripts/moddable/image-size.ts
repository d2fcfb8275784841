import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Part } from "../../src/hardware/needs.js";
import type { MemoryPlan } from "./memory-plan.js";
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

/**
 * The bytes of an image, estimated.
 *
 * @param constant bytes of its constant data
 * @param fonts bytes of its fonts; 0 without a screen
 * @param parts of the board
 */
export function estimateImage(constant: number, fonts: number, parts: readonly Part[]): number {
	const libraries = parts.reduce((sum, part) => sum + (LIBRARY_BYTES[part] ?? 0), 0);
	return constant + fonts + (fonts > 0 ? CODE_BYTES_WITH_SCREEN : CODE_BYTES) + libraries;
}

/** The share of the smallest partition for firmware that an image leaves free; below 0 if it does not fit. */
export function freeShare({ partitions }: Pick<MemoryPlan, "partitions">, image: number): number {
	const room = Math.min(...partitions.filter(({ type }) => type === "app").map(({ bytes }) => bytes));
	return 1 - image / room;
}

/**
 * Bytes of constant data.
 *
 * @param linked the linker's output
 * @throws SdkError if the C compiler has no 32-bit support
 */
export function measureConstantData({ root }: Sdk, linked: string): number {
	const folders = [...["platforms", "includes", "sources"].map((name) => join(root, "xs", name)), dirname(linked)];
	const object = `${linked}.o`;
	const failure = (command: string): string => `${command} failed, which measures what was linked`;
	run(
		"gcc",
		["-m32", "-c", "-w", ...folders.map((folder) => `-I${folder}`), linked, "-o", object],
		failure("gcc -m32"),
	);
	const [text = 0, data = 0] = (run("size", [object], failure(`size ${object}`)).split("\n")[1] ?? "")
		.trim()
		.split(/\s+/)
		.map(Number);
	return text + data;
}

/** Bytes of the fonts that were measured. */
const fontBytes = new Map<string, number>();

/**
 * The bytes of fonts in an image, as the SDK's tools compress them.
 *
 * @param fonts their paths, without `.fnt` and `.png`
 * @throws SdkError if a tool of the SDK fails
 */
export function measureFonts({ bin }: Sdk, fonts: readonly string[]): number {
	return fonts.reduce((sum, font) => {
		const bytes = fontBytes.get(font) ?? measureFont(bin, font);
		fontBytes.set(font, bytes);
		return sum + bytes;
	}, 0);
}

function measureFont(bin: string, font: string): number {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-font-"));
	try {
		const name = basename(font);
		run(join(bin, "png2bmp"), [`${font}.png`, "-a", "-o", folder, "-t"], "png2bmp failed");
		const picture = join(folder, `${name}-alpha.bmp`);
		run(join(bin, "compressbmf"), [`${font}.fnt`, "-i", picture, "-o", folder], "compressbmf failed");
		return statSync(join(folder, `${name}.bf4`)).size;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function run(program: string, args: readonly string[], failure: string): string {
	const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
	if (status !== 0) {
		throw new SdkError(`${failure}: ${error?.message ?? stderr.trim()}`);
	}
	return stdout;
}
