import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/** Two ends of a terminal: the path of one is printed, the other is standard input and output. */
const PAIR = `
import os, pty, select, sys, tty
near, far = pty.openpty()
tty.setraw(far)
print(os.ttyname(far), flush=True)
while True:
    for source in select.select([near, 0], [], [])[0]:
        data = os.read(source, 4096)
        if source == 0 and not data:
            sys.exit()
        os.write(near if source == 0 else 1, data)
`;

/** Why there are no serial ports to test with; false if there are. */
export const NO_SERIAL: string | false =
	process.platform !== "win32" && spawnSync("python3", ["-c", "import pty"]).status === 0
		? false
		: "python3 with its module pty is not installed";

/** A terminal of the system, as a board's serial port: a program opens `path`, and this is the board. */
export class SerialPair {
	readonly path: string;
	readonly #process: ChildProcessByStdio<Writable, Readable, null>;
	#received = Buffer.alloc(0);

	private constructor(path: string, process: ChildProcessByStdio<Writable, Readable, null>) {
		this.path = path;
		this.#process = process;
		process.stdout.on("data", (bytes) => {
			this.#received = Buffer.concat([this.#received, bytes]);
		});
	}

	static async open(test: { after(end: () => void): void }): Promise<SerialPair> {
		const child = spawn("python3", ["-c", PAIR], { stdio: ["pipe", "pipe", "inherit"] });
		const [path] = await once(child.stdout, "data");
		const pair = new SerialPair(String(path).trim(), child);
		test.after(() => pair.disconnect());
		return pair;
	}

	/** Bytes that the program has written to the port. */
	get received(): Buffer {
		return this.#received;
	}

	/** The board writes. */
	write(data: string | Uint8Array): void {
		this.#process.stdin.write(data);
	}

	/** Somebody pulls the cable. */
	disconnect(): void {
		this.#process.stdin.end();
	}
}
