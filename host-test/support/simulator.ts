import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { mcconfig, nameOf, outputOf } from "xs-mcp/moddable/mcconfig";
import { type Sdk, sdkEnvironment } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { ChildGroup } from "./child-group.js";
import { Xsbug, type XsbugMachine } from "./xsbug.js";

interface Events {
	line: [line: string];
	ended: [reason: string];
}

interface SimulatorOptions {
	readonly headless: boolean;
	readonly mod?: string;
	readonly devices?: string;
}

/** Device that it shows for a build with custom parts: a row for each pin. */
export const PARTS_PANEL = join(ROOT, "src/hardware/parts/simulator/panel");

/** Characters of the standard error in the error if it ends by itself. */
const MAX_COMPLAINT_LENGTH = 2_000;

/**
 * Moddable's desktop simulator with a firmware built for debugging. It has a debugger, a session bus and, where asked
 * for, a separate display, so that it does not disturb other simulators. Linux only.
 */
export class Simulator extends EventEmitter<Events> {
	readonly #xsbug: Xsbug;
	readonly #display: VirtualDisplay | undefined;
	readonly #child: ChildGroup;
	#machine: XsbugMachine | undefined;
	#stopped = false;
	#complaints = "";

	private constructor(xsbug: Xsbug, display: VirtualDisplay | undefined, child: ChildGroup) {
		super();
		this.#xsbug = xsbug;
		this.#display = display;
		this.#child = child;
		child.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
			this.#complaints = (this.#complaints + text).slice(-MAX_COMPLAINT_LENGTH);
		});
		void child.ended.then((reason) => this.#ended([reason, this.#complaints.trim()].filter(Boolean).join("\n")));
		xsbug.on("machine", (machine) => this.#connected(machine));
	}

	static async start(
		sdk: Sdk,
		library: string,
		{ headless, mod, devices = join(sdk.root, "build", "simulators") }: SimulatorOptions,
	): Promise<Simulator> {
		if (sdk.host !== "lin") {
			throw new Error("the tests in the simulator run on Linux only");
		}
		const display = headless ? await startDisplay() : undefined;
		const xsbug = await Xsbug.listen();
		// It starts the firmware as soon as that is loaded: the mod comes first.
		const mcsim = [join(sdk.bin, "mcsim"), devices, ...(mod ? [mod] : []), library];
		const env: NodeJS.ProcessEnv = {
			...sdkEnvironment(sdk),
			...(display && { DISPLAY: display.name, GDK_BACKEND: "x11" }),
			// GTK looks for a service for the disabled, and warns that a new session has none.
			NO_AT_BRIDGE: "1",
			XSBUG_HOST: "127.0.0.1",
			XSBUG_PORT: String(xsbug.port),
		};
		// mcsim ends where it cannot make its own folder in this one.
		mkdirSync(env.XDG_CONFIG_HOME || join(homedir(), ".config"), { recursive: true });
		const child = new ChildGroup("dbus-run-session", ["--", ...mcsim], ["ignore", "pipe"], { env });
		return new Simulator(xsbug, display, child);
	}

	get machine(): { readonly name: string; readonly engine: string } | undefined {
		return this.#machine;
	}

	/** The value of $DISPLAY for its own display; undefined if it uses the user's. */
	get display(): string | undefined {
		return this.#display?.name;
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		await this.#child.stop();
		await this.#display?.child.stop();
		this.#xsbug.close();
	}

	#connected(machine: XsbugMachine): void {
		this.#machine = machine;
		machine.on("line", (line) => this.emit("line", line));
		machine.on("closed", (reason) => this.#ended(reason));
	}

	#ended(reason: string): void {
		if (!this.#stopped) {
			this.#stopped = true;
			this.emit("ended", reason);
		}
	}
}

/** @param project the manifest, or its folder */
export async function buildForSimulator(sdk: Sdk, project: string, settings: readonly string[] = []): Promise<string> {
	// The target "build" keeps mcconfig from starting a simulator, which would end those that run.
	await mcconfig(sdk, project, ["-d", "-p", sdk.host, "-t", "build", ...settings], { show: false });
	return join(outputOf(project), "bin", sdk.host, "mc", "debug", nameOf(project), "mc.so");
}

export async function buildModForSimulator(sdk: Sdk, folder: string): Promise<string> {
	const output = outputOf(folder);
	mkdirSync(output, { recursive: true });
	const args = ["-d", "-m", "-p", sdk.host, "-t", "build", "-o", output];
	await promisify(execFile)(join(sdk.bin, "mcrun"), args, { cwd: folder, env: sdkEnvironment(sdk) });
	return join(output, "bin", sdk.host, "mc", "debug", nameOf(folder), "mc.xsa");
}

interface VirtualDisplay {
	readonly name: string;
	readonly child: ChildGroup;
}

/** @throws Error if its program is missing */
async function startDisplay(): Promise<VirtualDisplay> {
	const args = ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"];
	const child = new ChildGroup("Xvfb", args, ["ignore", "ignore", "pipe"]);
	const chosen = new Promise<string>((resolve) => {
		// The number may come in two pieces; a line end is the last of it.
		let number = "";
		(child.process.stdio[3] as Readable | undefined)?.on("data", (bytes) => {
			number += bytes;
			if (number.endsWith("\n")) {
				resolve(`:${number.trim()}`);
			}
		});
	});
	const failed = child.ended.then((reason) => Promise.reject(new Error(reason)));
	return { name: await Promise.race([chosen, failed]), child };
}
