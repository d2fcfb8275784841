import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
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
	run("gcc", ["-m32", "-c", "-w", ...folders.map((folder) => `-I${folder}`), linked, "-o", object]);
	const [text = 0, data = 0] = (run("size", [object]).split("\n")[1] ?? "").trim().split(/\s+/).map(Number);
	return text + data;
}

function run(program: string, args: readonly string[]): string {
	const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
	if (status !== 0) {
		throw new SdkError(
			`${program} ${args[0]} failed, which measures what was linked: ${error?.message ?? stderr.trim()}`,
		);
	}
	return stdout;
}
