import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/** What to install where a program is missing. */
const PACKAGES: Readonly<Record<string, string>> = {
	Xvfb: "a virtual display; Debian and Ubuntu have it in the package xvfb",
	"dbus-run-session": "Debian and Ubuntu have it in the package dbus-daemon",
};

/** Milliseconds that programs have to end when they are asked to. */
const PATIENCE = 3_000;

const running = new Set<ChildGroup>();

// Whatever ends this process ends what it started. Asked to, not killed: a virtual display removes its lock then.
process.on("exit", () => {
	for (const group of running) {
		group.signal("SIGTERM");
	}
});
for (const [signal, number] of [
	["SIGHUP", 1],
	["SIGINT", 2],
	["SIGTERM", 15],
] as const) {
	process.once(signal, () => process.exit(128 + number));
}

/** A program and whatever it starts in turn: they end together, and at the latest with this process. */
export class ChildGroup {
	readonly process: ChildProcess;
	/** Settles when the program has ended, or could not be started, with why. */
	readonly ended: Promise<string>;

	constructor(program: string, args: readonly string[], options: SpawnOptions = {}) {
		this.process = spawn(program, args, { ...options, detached: true });
		running.add(this);
		this.ended = new Promise((resolve) => {
			this.process.once("error", (error: NodeJS.ErrnoException) => {
				resolve(error.code === "ENOENT" ? notInstalled(program) : error.message);
			});
			this.process.once("exit", (code, signal) => resolve(`${program} ended with ${signal ?? `exit code ${code}`}`));
		});
	}

	/** Ends the program and all it started, and waits until it has. */
	async stop(): Promise<void> {
		const impatience = setTimeout(() => this.signal("SIGKILL"), PATIENCE);
		this.signal("SIGTERM");
		await this.ended;
		clearTimeout(impatience);
		// What it started may be slower than itself, or deaf.
		this.signal("SIGKILL");
		running.delete(this);
	}

	/** Sends a signal to all of them that are left. */
	signal(signal: NodeJS.Signals): void {
		const { pid } = this.process;
		try {
			if (pid !== undefined) {
				process.kill(-pid, signal);
			}
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
				throw error;
			}
		}
	}
}

function notInstalled(program: string): string {
	const hint = PACKAGES[program];
	return `${program} is not installed${hint === undefined ? "" : `: ${hint}`}`;
}
