import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { MemoryPlan } from "./memory-plan.js";
import { type Sdk, SdkError } from "./sdk.js";

/**
 * XS, the SDK's C, ESP-IDF without Wi-Fi and TLS, certificates: the image that docs/qemu.md measured (1,313,408 bytes) without its
 * constant data (563,732), measured as `npm run boards` does.
 */
const CODE_BYTES = 749_676;

/** ESP-IDF 6.0's Wi-Fi libraries for esp32c3 and their glue, as they were linked into an image of that chip. */
const WIFI_BYTES = 253_018;

/** wpa_supplicant, which they need: 356,277 bytes with them. */
const SUPPLICANT_BYTES = 103_259;

/** mbedTLS 4.0, which wpa_supplicant needs: 455,809 bytes with both. */
const MBEDTLS_BYTES = 99_532;

/** Poco, QR code, and the drivers of ESP-IDF and the SDK that a screen needs. An estimate: no such image was built yet. */
const SCREEN_BYTES = 50_000;

/** The share of its partition that an image must leave free. */
export const LEAST_FREE = 0.05;

/**
 * The bytes of an image, estimated.
 *
 * @param constant bytes of its constant data
 * @param fonts bytes of its fonts; 0 without a screen
 */
export function estimateImage(constant: number, fonts: number): number {
	return constant + CODE_BYTES + WIFI_BYTES + SUPPLICANT_BYTES + MBEDTLS_BYTES + (fonts > 0 ? SCREEN_BYTES : 0) + fonts;
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
