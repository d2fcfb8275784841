import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { mcconfig } from "xs-mcp/moddable/mcconfig";
import { findProgram, findSdk, NO_SDK, type Sdk, sdkEnvironment } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { makeFlashImage } from "./flash-image.js";
import type { Emulator } from "./qemu-chip.js";

/** This computer's loopback address, as the emulated chip sees it. */
export const HOST_ADDRESS = "10.0.2.2";

interface Chip {
	readonly title: string;
	readonly program: string;
	readonly compiler: string;
	readonly bootloader: number;
	/** mcconfig's name of the bare chip, after the platform's. */
	readonly subplatform: string;
	/** The machine in lcgamboa's QEMU that emulates the chip with its radio. Default: none. */
	readonly radio?: Pick<Emulator, "machine" | "nic">;
}

/** The emulated chips, by ESP-IDF's name, which is also that of QEMU's machine. */
const CHIPS = {
	esp32c3: {
		title: "an ESP32-C3",
		program: "qemu-system-riscv32",
		compiler: "riscv32-esp-elf-gcc",
		bootloader: 0,
		subplatform: "esp32c3",
		radio: { machine: "esp32c3-picsimlab", nic: "esp32c3_wifi" },
	},
	esp32: {
		title: "an ESP32",
		program: "qemu-system-xtensa",
		compiler: "xtensa-esp32-elf-gcc",
		bootloader: 0x1000,
		subplatform: "",
		radio: { machine: "esp32-picsimlab", nic: "esp32_wifi" },
	},
	esp32s3: {
		title: "an ESP32-S3",
		program: "qemu-system-xtensa",
		compiler: "xtensa-esp32s3-elf-gcc",
		bootloader: 0,
		subplatform: "esp32s3",
	},
} as const satisfies Record<string, Chip>;

export type EmulatedChip = keyof typeof CHIPS;

/** A target of mcconfig, and the kind of build. */
interface Target {
	/** Its folder below mcconfig's of the platform; empty for the platform itself. */
	readonly name: string;
	readonly argument: string;
	readonly kind: "instrument" | "release";
}

/** The board that is made for QEMU, of each chip. */
const ETHERNET_BOARD: Target = {
	name: "generated",
	argument: `esp32:${join(ROOT, "host-test", "fixtures", "qemu")}`,
	kind: "instrument",
};

const FLAGS = { instrument: ["-i"], release: [] } as const;

/** The tools to build and run a board's image. */
export interface QemuTools {
	/** Chip in the name of a test: "an ESP32-C3". */
	readonly title: string;
	readonly chip: EmulatedChip;
	readonly sdk: Sdk;
	readonly env: NodeJS.ProcessEnv;
	readonly emulator: Emulator;
	readonly board: Target;
}

export interface QemuImage {
	readonly flash: Buffer;
	/** The image of an update: without bootloader and partition table. */
	readonly firmware: Buffer;
	/** The folder of what mcconfig made on the way, such as `mc.xs.h`. */
	readonly made: string;
	/** The file with ESP-IDF's settings as C has them. */
	readonly settings: string;
	readonly emulator: Emulator;
}

/** Finds the tools for a chip; returns the missing one otherwise. */
export type FindTools = (chip: EmulatedChip, env?: NodeJS.ProcessEnv) => QemuTools | string;

/** The tools for every chip; for those that cannot be run here, the reason. */
export function findChips(find: FindTools = findQemuTools): { title: string; tools: QemuTools | string }[] {
	const names = Object.keys(CHIPS) as EmulatedChip[];
	return names.map((chip) => ({ title: CHIPS[chip].title, tools: find(chip) }));
}

/**
 * Finds the tools for the board with Ethernet. QEMU and XTENSA in the environment name the folders of the emulators and of
 * the compilers for Xtensa, if those are not on the PATH.
 */
export function findQemuTools(
	chip: EmulatedChip = "esp32c3",
	env: NodeJS.ProcessEnv = process.env,
): QemuTools | string {
	return findTools(chip, { machine: chip, nic: "open_eth" }, ETHERNET_BOARD, env);
}

/** Finds the tools for the bare chip as it is released: ESP-IDF's Wi-Fi libraries, and an emulator that has a radio. */
export function findWifiTools(chip: EmulatedChip, env: NodeJS.ProcessEnv = process.env): QemuTools | string {
	const { radio, subplatform, title }: Chip = CHIPS[chip];
	if (radio === undefined) {
		return `no QEMU emulates the radio of ${title}`;
	}
	const argument = ["esp32", subplatform].filter(Boolean).join("/");
	const tools = findTools(chip, radio, { name: subplatform, argument, kind: "release" }, env);
	const library = join("components", "esp_wifi", "lib", chip, "libnet80211.a");
	return typeof tools === "string" || existsSync(join(env.IDF_PATH ?? "", library))
		? tools
		: `ESP-IDF lacks its Wi-Fi libraries: ${library}`;
}

function findTools(
	chip: EmulatedChip,
	machine: Pick<Emulator, "machine" | "nic">,
	board: Target,
	own: NodeJS.ProcessEnv,
): QemuTools | string {
	const { title, compiler, program: name } = CHIPS[chip];
	const sdk = findSdk(own);
	if (sdk === undefined) {
		return NO_SDK;
	}
	const env: NodeJS.ProcessEnv = { ...own, PATH: [own.QEMU, own.XTENSA, own.PATH].filter(Boolean).join(delimiter) };
	if (!env.IDF_PATH || !existsSync(join(env.IDF_PATH, "tools", "cmake", "project.cmake"))) {
		return "IDF_PATH does not name the folder of ESP-IDF";
	}
	for (const each of ["idf.py", compiler]) {
		if (findProgram(each, env) === undefined) {
			return `${each} is not on the PATH: run ESP-IDF's export.sh first`;
		}
	}
	const program = findProgram(name, env) ?? name;
	return hasMachine(program, machine.machine)
		? { title, chip, sdk, env, emulator: { ...machine, program }, board }
		: `${program} with the machine ${machine.machine} is not on the PATH: host-test/esp32/README.md`;
}

function hasMachine(program: string, machine: string): boolean {
	const { stdout } = spawnSync(program, ["-machine", "help"], { encoding: "utf8" });
	return new RegExp(`^${machine} `, "m").test(stdout ?? "");
}

/**
 * Builds the firmware for an emulated chip. Every firmware of a board and chip is built in one folder, so that ESP-IDF is
 * compiled once; one process builds there at a time.
 */
export async function buildForQemu(
	tools: QemuTools,
	settings: readonly string[] = [],
	project = ROOT,
): Promise<QemuImage> {
	const { sdk, chip, env, board } = tools;
	const output = join(ROOT, ".cache", "moddable", `${board.name || "bare"}-${chip}`);
	const unlock = await lock(`${output}.lock`);
	try {
		const args = [...FLAGS[board.kind], "-p", board.argument, "-t", "build", ...settings];
		await mcconfig(sdk, project, args, {
			show: false,
			env: { ...sdkEnvironment(sdk, env), ESP32_SUBCLASS: chip },
			output,
		});
		return readImage(output, tools);
	} finally {
		unlock();
	}
}

function readImage(output: string, { chip, emulator, board: { name, kind } }: QemuTools): QemuImage {
	const built = (part: string): string => join(output, part, "esp32", name, kind, "xs-mcp");
	const project = join(built("tmp"), `xsProj-${chip}`);
	const firmware = readFileSync(join(built("bin"), "xs_esp32.bin"));
	return {
		firmware,
		flash: makeFlashImage(built("bin"), CHIPS[chip].bootloader),
		made: built("tmp"),
		settings: join(project, "build", "config", "sdkconfig.h"),
		emulator,
	};
}

/** Waits for an exclusive lock on a file. If this process ends, `cat` reads the end of its input, and the lock is released. */
async function lock(file: string): Promise<() => void> {
	mkdirSync(dirname(file), { recursive: true });
	const holder = spawn("flock", [file, "sh", "-c", "echo locked; cat"], { stdio: ["pipe", "pipe", "inherit"] });
	await once(holder.stdout, "data");
	return () => holder.stdin.end();
}
