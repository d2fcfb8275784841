import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ChildGroup } from "./child-group.js";
import { sectionsOf } from "./elf.js";
import { makeFlashImage } from "./flash-image.js";
import { mcconfig } from "./mcconfig.js";
import { findSdk, NO_SDK, type Sdk, SdkError } from "./sdk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const QEMU = "qemu-system-riscv32";
const MACHINE = "esp32c3";
const BOARD = "esp32c3_qemu";

/** Where the emulated chip finds this computer's loopback address. */
const HOST_ADDRESS = "10.0.2.2";

/**
 * How long an instruction takes: 2 to the power of this, in nanoseconds. Time then passes for the chip as it works, however
 * busy this computer is.
 */
const INSTRUCTION_TIME = "3";

/** Characters of QEMU's output that are told when it ends by itself. */
const MAX_COMPLAINT_LENGTH = 2_000;

/** What the board's image is built with and run by. */
export interface QemuTools {
	readonly sdk: Sdk;
}

/** A built image. */
export interface QemuImage {
	/** What is written to flash, in bytes: without bootloader and partition table. */
	readonly size: number;
	/** The sections that lie in the chip's memory, and their sizes in bytes. */
	readonly sections: ReadonlyMap<string, number>;
	/** The content of the flash. */
	readonly flash: Buffer;
	/** What an update installs. */
	readonly firmware: Buffer;
}

/** Finds what is needed; otherwise the answer is what is missing. */
export function findQemuTools(env: NodeJS.ProcessEnv = process.env): QemuTools | string {
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
	const { stdout } = spawnSync(QEMU, ["-machine", "help"], { env, encoding: "utf8" });
	return new RegExp(`^${MACHINE}\\b`, "m").test(stdout ?? "")
		? { sdk }
		: `Espressif's QEMU is not on the PATH: ${QEMU} with the machine ${MACHINE}`;
}

/**
 * Builds the firmware for the emulated chip. Every firmware is built in one folder, so that ESP-IDF is compiled once.
 *
 * @param port of this computer's loopback address, where the device's backend listens
 * @param settings others of the firmware: "updateTrial=20"
 * @param folder of the firmware's manifest. Default: the project's
 * @throws SdkError when the build fails
 */
export async function buildForQemu(
	{ sdk }: QemuTools,
	port: number,
	settings: readonly string[] = [],
	folder = ROOT,
): Promise<QemuImage> {
	const output = join(ROOT, ".cache", "moddable", BOARD);
	const target = `esp32:${join(ROOT, "src", "boards", BOARD)}`;
	const backend = `backend=ws://${HOST_ADDRESS}:${port}/`;
	await mcconfig(sdk, folder, ["-i", "-p", target, "-t", "build", backend, ...settings], { show: false, output });
	const built = (kind: string): string => join(output, kind, "esp32", BOARD, "instrument", "xs-mcp");
	const elf = join(built("tmp"), `xsProj-${MACHINE}`, "build", "xs_esp32.elf");
	const firmware = readFileSync(join(built("bin"), "xs_esp32.bin"));
	return {
		size: firmware.length,
		firmware,
		sections: sectionsOf(readFileSync(elf)),
		flash: makeFlashImage(built("bin")),
	};
}

/** A chip in QEMU. It ends with this process at the latest. */
export class Qemu {
	readonly #child: ChildGroup;
	#stopped = false;

	/**
	 * Switches it on.
	 *
	 * @param file its flash, to which it writes: {@link QemuImage.flash}, or what another chip has left
	 * @param onEnd told why if it ends by itself
	 */
	constructor(file: string, onEnd: (reason: SdkError) => void) {
		const args = [
			"-machine",
			MACHINE,
			"-icount",
			INSTRUCTION_TIME,
			"-display",
			"none",
			"-monitor",
			"none",
			"-serial",
			"null",
			"-drive",
			`file=${file},if=mtd,format=raw`,
			"-nic",
			"user,model=open_eth",
		];
		this.#child = new ChildGroup(QEMU, args, ["ignore", "pipe"]);
		let complaints = "";
		this.#child.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
			complaints = (complaints + text).slice(-MAX_COMPLAINT_LENGTH);
		});
		void this.#child.ended.then((reason) => {
			if (!this.#stopped) {
				onEnd(new SdkError(`${reason}\n${complaints}`));
			}
		});
	}

	/** Cuts the power. */
	async stop(): Promise<void> {
		this.#stopped = true;
		await this.#child.stop();
	}
}
