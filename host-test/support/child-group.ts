import { type ChildProcess, spawn } from "node:child_process";

const PACKAGES: Readonly<Record<string, string>> = {
	Xvfb: "a virtual display; Debian and Ubuntu have it in the package xvfb",
	"dbus-run-session": "Debian and Ubuntu have it in the package dbus-daemon",
};

/** Milliseconds that programs have to exit after SIGTERM. */
const PATIENCE = 3_000;

const NOT_FOUND = 127;

/**
 * The shell becomes the program, and leaves a guard in its group. The guard reads a pipe that ends when this process
 * does, even if that is killed, and then asks the group to end: a display removes its lock, and nothing is left running.
 */
const GUARDED = 'exec 9<&0; { read -r _ <&9; kill -s TERM 0; } >/dev/null 2>&1 & exec "$@" 9<&- </dev/null';

/**
 * A program and whatever it starts in turn: they end together, and at the latest with this process. It has no terminal,
 * so Ctrl-C reaches it through this process only.
 */
export class ChildGroup {
	readonly process: ChildProcess;
	readonly ended: Promise<string>;

	/** @param outputs its standard output, standard error and further streams. It has no input. */
	constructor(
		program: string,
		args: readonly string[],
		outputs: readonly ("ignore" | "inherit" | "pipe")[],
		options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
	) {
		this.process = spawn("sh", ["-c", GUARDED, "sh", program, ...args], {
			...options,
			stdio: ["pipe", ...outputs],
			detached: true,
		});
		this.ended = new Promise((resolve) => {
			this.process.once("error", (error) => resolve(`${program}: ${error.message}`));
			this.process.once("exit", (code, signal) => {
				// The guard, and any other process. Later the group's number may be reused.
				this.#signal("SIGKILL");
				resolve(code === NOT_FOUND ? notInstalled(program) : `${program} ended with ${signal ?? `exit code ${code}`}`);
			});
		});
	}

	async stop(): Promise<void> {
		if (this.#isRunning) {
			const impatience = setTimeout(() => this.#signal("SIGKILL"), PATIENCE);
			this.#signal("SIGTERM");
			await this.ended;
			clearTimeout(impatience);
		}
	}

	/** Ends them at once, without a chance to finish anything, and waits for that. */
	async kill(): Promise<void> {
		if (this.#isRunning) {
			this.#signal("SIGKILL");
			await this.ended;
		}
	}

	get #isRunning(): boolean {
		return this.process.exitCode === null && this.process.signalCode === null;
	}

	#signal(signal: NodeJS.Signals): void {
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
