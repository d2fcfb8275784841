import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { killGroup } from "./build/kill-group.js";
import { ProgramError } from "./build/program.js";

/** Characters of a job's output that are kept: its end, where the error is. */
const MAX_OUTPUT = 20_000;

/** Milliseconds for which a call waits for a job. Clients give up after 60 s by default. */
const MAX_WAIT = 50_000;

/** A command that an agent has started. */
interface Job {
	readonly command: string;
	readonly child: ChildProcess;
	/** Settles when it and all processes that write to its output have ended. */
	readonly closed: Promise<unknown>;
	state: "runs" | "passed" | "failed" | "stopped" | "stopped at its time limit";
	/** The end of its output. */
	output: string;
}

/** Commands of this program for an agent, one at a time, each in a process group of its own with a time limit. */
export class JobRunner {
	#job: Job | undefined;

	/**
	 * Starts a command, and waits for its end for as long as a client waits.
	 *
	 * @param args the command of this program, and its arguments
	 * @param limit seconds after which it is stopped
	 * @throws ProgramError while another one runs
	 */
	async run(args: readonly string[], limit: number): Promise<Pick<Job, "command" | "state" | "output">> {
		if (this.#job?.state === "runs") {
			throw new ProgramError(
				`${this.#job.command} still runs: wait for it with job, or stop it with job { stop: true }`,
			);
		}
		const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args], {
			detached: process.platform !== "win32",
			stdio: ["ignore", "pipe", "pipe", "ipc"],
			env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
		});
		const job: Job = {
			command: `xs-mcp ${args.join(" ")}`,
			child,
			closed: once(child, "close").catch(() => {}),
			state: "runs",
			output: "",
		};
		this.#job = job;
		for (const stream of [child.stdout, child.stderr]) {
			stream?.setEncoding("utf8").on("data", (text: string) => {
				job.output = (job.output + stripVTControlCharacters(text)).slice(-MAX_OUTPUT);
			});
		}
		const timer = setTimeout(() => this.stop("stopped at its time limit"), limit * 1000);
		child.once("close", (status) => {
			clearTimeout(timer);
			if (job.state === "runs") {
				job.state = status === 0 ? "passed" : "failed";
			}
		});
		return await this.wait();
	}

	/**
	 * Waits for the end of the job, for as long as a client waits.
	 *
	 * @throws ProgramError if none was started
	 */
	async wait(): Promise<Pick<Job, "command" | "state" | "output">> {
		if (this.#job === undefined) {
			throw new ProgramError("no job: run_tests, build and flash start one");
		}
		await Promise.race([this.#job.closed, once(AbortSignal.timeout(MAX_WAIT), "abort")]);
		const { command, state, output } = this.#job;
		return { command, state, output };
	}

	/** Ends the job with all processes that it has started. */
	stop(state: Job["state"] = "stopped"): void {
		if (this.#job?.state === "runs") {
			this.#job.state = state;
			killGroup(this.#job.child);
		}
	}
}

/** Ends this process, which is a job, with those that it has started if its server is killed: its channel then closes. */
export function endWithServer(): void {
	process.once("disconnect", () => killGroup({ pid: process.pid, kill: () => process.exit(1) }));
	process.channel?.unref();
}
