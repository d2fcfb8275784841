import { EventEmitter } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ChildGroup } from "./child-group.js";
import { type Sdk, sdkEnvironment } from "./sdk.js";
import { Xsbug } from "./xsbug.js";

interface Events {
	/** A line of the board's trace, or another one that it wrote. */
	line: [line: string];
	/** The SDK's bridge has ended, with a reason unless by `close`: the port cannot be used. */
	closed: [reason: string | undefined];
}

/** Bits per second at which the SDK's debug builds speak. */
const DEBUGGER_SPEED = 460_800;

/**
 * The trace of a board whose firmware was built for debugging. The SDK's serial2xsbug restarts the board and bridges
 * its port to a debugger, which is this program.
 */
export class BoardTrace extends EventEmitter<Events> {
	readonly #bridge: ChildGroup;
	#stopped = false;

	private constructor(xsbug: Xsbug, bridge: ChildGroup) {
		super();
		this.#bridge = bridge;
		xsbug.on("machine", (machine) => machine.on("line", (line) => this.emit("line", line)));
		let last = "";
		for (const output of [bridge.process.stdout, bridge.process.stderr] as Readable[]) {
			createInterface({ input: output }).on("line", (line) => {
				last = line;
				this.emit("line", line);
			});
		}
		void bridge.ended.then((reason) => {
			xsbug.close();
			this.emit("closed", this.#stopped ? undefined : last === "" ? reason : `${reason}: ${last}`);
		});
	}

	/** @param path of the board's serial port */
	static async open(sdk: Sdk, path: string): Promise<BoardTrace> {
		const xsbug = await Xsbug.listen();
		const env = { ...sdkEnvironment(sdk), XSBUG_HOST: "127.0.0.1", XSBUG_PORT: String(xsbug.port) };
		const args = [path, String(DEBUGGER_SPEED), "8N1"];
		const bridge = new ChildGroup(join(sdk.bin, "serial2xsbug"), args, ["pipe", "pipe"], { env });
		return new BoardTrace(xsbug, bridge);
	}

	close(): void {
		this.#stopped = true;
		void this.#bridge.stop();
	}
}
