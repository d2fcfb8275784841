import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundledPath } from "../runner/select.js";

const START_TIMEOUT = 120_000;

/** Milliseconds in the unit of proc(5): Linux shows 100 ticks a second on every architecture that Node supports. */
const MS_PER_TICK = 10;

export interface ProgramOptions {
	readonly command?: string;
	readonly cwd?: string;
	readonly env?: NodeJS.ProcessEnv;
	readonly startTimeout?: number;
}

export class Program {
	readonly #child: ChildProcess;
	#output = "";
	#lastOutput = "";

	private constructor(args: readonly string[], { command = process.execPath, cwd, env }: ProgramOptions) {
		this.#child = spawn(command, args, { stdio: "pipe", env: { ...process.env, ...env }, ...(cwd && { cwd }) });
		this.#child.on("error", (error) => {
			this.#output += error.message;
		});
		for (const stream of [this.#child.stdout, this.#child.stderr]) {
			stream?.setEncoding("utf8").on("data", (text: string) => {
				this.#output = this.#output.length < 100_000 ? this.#output + text : this.#output;
				this.#lastOutput = (this.#lastOutput + text).slice(-2_000);
			});
		}
	}

	/**
	 * Starts Node, or another command, with these arguments. Rejects with its output if it ends before it is ready, or is
	 * not ready in time.
	 */
	static async start(
		args: readonly string[],
		isReady: (output: string) => boolean | Promise<boolean>,
		options: ProgramOptions = {},
	): Promise<Program> {
		const program = new Program(args, options);
		const deadline = Date.now() + (options.startTimeout ?? START_TIMEOUT);
		while (!(await isReady(program.#output))) {
			if (!program.runs || Date.now() > deadline) {
				await program.stop();
				throw new Error(`${args.join(" ")} does not start: ${program.#output}`);
			}
			await delay(20);
		}
		return program;
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	get output(): string {
		return this.#output;
	}

	write(text: string): void {
		this.#child.stdin?.write(text);
	}

	endInput(): void {
		this.#child.stdin?.end();
	}

	said(pattern: RegExp): string {
		const found = pattern.exec(this.#output)?.[1];
		if (found === undefined) {
			throw new Error(`${pattern} is not in: ${this.#output}`);
		}
		return found;
	}

	/** Bytes of memory that are resident now. Linux only: elsewhere NaN. @throws Error if it has ended, with its last output */
	get residentBytes(): number {
		if (!this.runs) {
			const { exitCode, signalCode } = this.#child;
			throw new Error(`the program has ended (exit code ${exitCode}, signal ${signalCode}): ${this.#lastOutput}`);
		}
		if (process.platform !== "linux") {
			return Number.NaN;
		}
		const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
		return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
	}

	/** Milliseconds of CPU that it has taken, in steps of 10. Linux only: elsewhere NaN. */
	get cpuTime(): number {
		if (process.platform !== "linux") {
			return Number.NaN;
		}
		// After the name, which may have spaces: proc(5), utime and stime.
		const [, fields = ""] = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8").split(") ");
		const [user, system] = fields.split(" ").slice(11, 13).map(Number) as [number, number];
		return (user + system) * MS_PER_TICK;
	}

	/** Files, sockets and the like that it has open now. Linux only: elsewhere NaN. */
	get openHandles(): number {
		return process.platform === "linux" ? readdirSync(`/proc/${this.#child.pid}/fd`).length : Number.NaN;
	}

	/** Settles when it has ended by itself, with its exit code; null if a signal has ended it. */
	async ended(): Promise<number | null> {
		if (this.runs) {
			await once(this.#child, "close");
		}
		return this.#child.exitCode;
	}

	async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
		if (this.runs) {
			const exited = once(this.#child, "exit");
			this.#child.kill(signal);
			await exited;
		}
	}

	get runs(): boolean {
		return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
	}
}

/** Arguments that have Node run a program of this repository: its bundle among tests, else from its TypeScript. */
export function typeScript(path: string, ...args: string[]): string[] {
	const bundle = process.env.XS_MCP_TEST_BUNDLE;
	if (bundle !== undefined) {
		return [bundledPath(bundle, path), ...args];
	}
	const root = new URL("../../", import.meta.url);
	return ["--import", new URL("tools/register.mjs", root).href, fileURLToPath(new URL(path, root)), ...args];
}

/** The URL of a module of this repository, for a program that imports it: in the bundle among tests, else its source. */
export function moduleUrl(path: string): string {
	const bundle = process.env.XS_MCP_TEST_BUNDLE;
	return bundle === undefined
		? new URL(path, new URL("../../", import.meta.url)).href
		: pathToFileURL(bundledPath(bundle, path)).href;
}
