import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { ChildGroup } from "../support/child-group.js";

export interface Emulator {
	readonly program: string;
	/** Name in the list of `-machine help`. */
	readonly machine: string;
	readonly nic: string;
}

const NETWORK = "network";

const SERIAL = "serial";

/** Nanoseconds of the chip's time that an instruction takes, a power of 2. It then passes as the chip works, however busy this computer is. */
export const INSTRUCTION_NANOSECONDS = 8;

/** Characters of QEMU's output in the error if it ends by itself. */
const MAX_COMPLAINT_LENGTH = 2_000;

interface QemuOptions {
	readonly flash: string;
	/** File for its console output. */
	readonly console: string;
	/** The socket to make for its first serial port. Default: none. */
	readonly serial?: string | undefined;
	/** The socket to make for QEMU's monitor. */
	readonly monitor: string;
	readonly emulator: Emulator;
	/** The WPA2 password of the emulated access points. Default: they are open. */
	readonly passphrase?: string | undefined;
	/** More options of QEMU's user network, such as `hostfwd=tcp:127.0.0.1:8080-:80`. */
	readonly network?: string | undefined;
	/** Called with the reason if it ends by itself. */
	readonly onEnd: (reason: Error) => void;
}

/** A chip in QEMU. It ends with this process at the latest. */
export class Qemu {
	readonly #child: ChildGroup;
	readonly #monitor: string;
	#stopped = false;

	constructor({ flash, console, serial, monitor, emulator, passphrase, network, onEnd }: QemuOptions) {
		const { program, machine, nic } = emulator;
		this.#monitor = monitor;
		const args = [
			["-machine", machine],
			["-icount", String(Math.log2(INSTRUCTION_NANOSECONDS))],
			["-display", "none"],
			["-qmp", `unix:${monitor},server=on,wait=off`],
			serial === undefined
				? ["-serial", `file:${console}`]
				: [
						["-chardev", `socket,id=${SERIAL},path=${serial},server=on,wait=off,logfile=${console}`],
						["-serial", `chardev:${SERIAL}`],
					].flat(),
			["-drive", `file=${flash},if=mtd,format=raw`],
			["-nic", ["user", `id=${NETWORK}`, `model=${nic}`, ...(network === undefined ? [] : [network])].join(",")],
		].flat();
		this.#child = new ChildGroup(program, args, ["ignore", "pipe"], {
			env: { ...process.env, ...(passphrase !== undefined && { ESP32_WIFI_PASSPHRASE: passphrase }) },
		});
		let complaints = "";
		this.#child.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
			complaints = (complaints + text).slice(-MAX_COMPLAINT_LENGTH);
		});
		void this.#child.ended.then((reason) => {
			if (!this.#stopped) {
				onEnd(new Error(`${reason}\n${complaints}`));
			}
		});
	}

	async setNetwork(up: boolean): Promise<void> {
		await this.#ask("set_link", { name: NETWORK, up });
	}

	async registers(): Promise<string> {
		return String(await this.#ask("human-monitor-command", { "command-line": "info registers" }));
	}

	/** The value of a register of its peripherals, or a word of its memory: 32 bits. */
	async readWord(address: number): Promise<number> {
		const said = String(
			await this.#ask("human-monitor-command", { "command-line": `xp /1wx 0x${address.toString(16)}` }),
		);
		const [, word] = /: (0x\w+)/.exec(said) ?? [];
		if (word === undefined) {
			throw new Error(`QEMU cannot read address 0x${address.toString(16)}: ${said}`);
		}
		return Number(word);
	}

	/** Sets a property of a peripheral, whose path is such as "/machine/saradc". Rejects if this QEMU has none. */
	async setProperty(path: string, property: string, value: number): Promise<void> {
		await this.#ask("qom-set", { path, property, value });
	}

	async #ask(execute: string, args: object): Promise<unknown> {
		const socket = connect(this.#monitor);
		try {
			await once(socket, "connect");
			socket.write('{"execute":"qmp_capabilities"}');
			socket.write(JSON.stringify({ execute, arguments: args, id: execute }));
			for await (const line of createInterface({ input: socket })) {
				const answer = JSON.parse(line);
				if (answer.id === execute) {
					if (answer.error !== undefined) {
						throw new Error(`QEMU: ${answer.error.desc}`);
					}
					return answer.return;
				}
			}
			throw new Error(`QEMU's monitor did not answer ${execute}`);
		} finally {
			socket.destroy();
		}
	}

	/** Cuts the power: whatever it was doing, it does no more. */
	async stop(): Promise<void> {
		this.#stopped = true;
		await this.#child.kill();
	}
}
