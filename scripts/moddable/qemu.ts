import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sectionsOf } from "./elf.js";
import { makeFlashImage } from "./flash-image.js";
import { mcconfig } from "./mcconfig.js";
import { type Emulator, ETHERNET } from "./qemu-chip.js";
import { findSdk, NO_SDK, type Sdk } from "./sdk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Where the emulated chip finds this computer's loopback address. */
export const HOST_ADDRESS = "10.0.2.2";

/** A target of mcconfig, and what it builds of it. */
interface Target {
	readonly name: string;
	readonly argument: string;
	readonly kind: "instrument" | "release";
}

/** The board that is made for QEMU. */
const ETHERNET_BOARD: Target = {
	name: "esp32c3_qemu",
	argument: `esp32:${join(ROOT, "src", "boards", "esp32c3_qemu")}`,
	kind: "instrument",
};

/** The bare chip as it is released. */
const WIFI_BOARD: Target = { name: "esp32c3", argument: "esp32/esp32c3", kind: "release" };

const FLAGS = { instrument: ["-i"], release: [] } as const;

/** The tools to build and run a board's image. */
export interface QemuTools {
	readonly sdk: Sdk;
	readonly emulator: Emulator;
	readonly board: Target;
}

/** A built image. */
export interface QemuImage {
	/** What is written to flash, in bytes: without bootloader and partition table. */
	readonly size: number;
	/** The sections that lie in the chip's memory, and their sizes in bytes. */
	readonly sections: ReadonlyMap<string, number>;
	/** The content of the flash. */
	readonly flash: Buffer;
	/** The image of an update. */
	readonly firmware: Buffer;
	/** The folder of what mcconfig made on the way: `mc.xs.h` and, in `xsProj-…`, ESP-IDF's configuration. */
	readonly made: string;
}

/** Finds the tools for the board with Ethernet; returns the missing one otherwise. */
export function findQemuTools(env: NodeJS.ProcessEnv = process.env): QemuTools | string {
	const sdk = findBuildTools(env);
	if (typeof sdk === "string") {
		return sdk;
	}
	return hasMachine(ETHERNET, env)
		? { sdk, emulator: ETHERNET, board: ETHERNET_BOARD }
		: `Espressif's QEMU is not on the PATH: ${ETHERNET.program} with the machine ${ETHERNET.machine}`;
}

/** Finds the tools for the bare chip with Wi-Fi: ESP-IDF's Wi-Fi libraries, and an emulator of its own. */
export function findWifiTools(env: NodeJS.ProcessEnv = process.env): QemuTools | string {
	const sdk = findBuildTools(env);
	if (typeof sdk === "string") {
		return sdk;
	}
	if (!env.QEMU_WIFI) {
		return "QEMU_WIFI does not name a QEMU that emulates Wi-Fi: docs/qemu.md";
	}
	const emulator = { program: env.QEMU_WIFI, machine: "esp32c3-picsimlab", nic: "esp32c3_wifi" };
	if (!hasMachine(emulator, env)) {
		return `QEMU_WIFI is ${emulator.program}, which does not have the machine ${emulator.machine}`;
	}
	const library = join("components", "esp_wifi", "lib", "esp32c3", "libnet80211.a");
	return existsSync(join(env.IDF_PATH as string, library))
		? { sdk, emulator, board: WIFI_BOARD }
		: `ESP-IDF lacks its Wi-Fi libraries: ${library}`;
}

function findBuildTools(env: NodeJS.ProcessEnv): Sdk | string {
	const sdk = findSdk(env);
	if (sdk === undefined) {
		return NO_SDK;
	}
	if (!env.IDF_PATH || !existsSync(join(env.IDF_PATH, "tools", "cmake", "project.cmake"))) {
		return "IDF_PATH does not name the folder of ESP-IDF";
	}
	for (const program of ["idf.py", "riscv32-esp-elf-gcc"]) {
		if (spawnSync(program, ["--version"], { env, stdio: "ignore" }).error !== undefined) {
			return `${program} is not on the PATH: run ESP-IDF's export.sh first`;
		}
	}
	return sdk;
}

function hasMachine({ program, machine }: Emulator, env: NodeJS.ProcessEnv): boolean {
	const { stdout } = spawnSync(program, ["-machine", "help"], { env, encoding: "utf8" });
	return new RegExp(`^${machine}\\b`, "m").test(stdout ?? "");
}

/**
 * Builds the firmware for the emulated chip. Every firmware of a board is built in one folder, so that ESP-IDF is compiled
 * once; one process builds there at a time.
 *
 * @param settings of the firmware: "updateTrial=20". Those that are stored in its flash can be added to the image: `storeSettings`
 * @param folder of the firmware's manifest. Default: the project's
 * @throws SdkError when the build fails
 */
export async function buildForQemu(
	{ sdk, board: { name, argument, kind } }: QemuTools,
	settings: readonly string[] = [],
	folder = ROOT,
): Promise<QemuImage> {
	const output = join(ROOT, ".cache", "moddable", name);
	const unlock = await lock(`${output}.lock`);
	try {
		await mcconfig(sdk, folder, [...FLAGS[kind], "-p", argument, "-t", "build", ...settings], { show: false, output });
		return readImage(output, name, kind);
	} finally {
		unlock();
	}
}

function readImage(output: string, name: string, kind: Target["kind"]): QemuImage {
	const built = (part: string): string => join(output, part, "esp32", name, kind, "xs-mcp");
	const elf = join(built("tmp"), "xsProj-esp32c3", "build", "xs_esp32.elf");
	const firmware = readFileSync(join(built("bin"), "xs_esp32.bin"));
	return {
		size: firmware.length,
		firmware,
		sections: sectionsOf(readFileSync(elf)),
		flash: makeFlashImage(built("bin")),
		made: built("tmp"),
	};
}

/** Waits for an exclusive lock on a file. If this process ends, `cat` reads the end of its input, and the lock is released. */
async function lock(file: string): Promise<() => void> {
	mkdirSync(dirname(file), { recursive: true });
	const holder = spawn("flock", [file, "sh", "-c", "echo locked; cat"], { stdio: ["pipe", "pipe", "inherit"] });
	await once(holder.stdout, "data");
	return () => holder.stdin.end();
}
