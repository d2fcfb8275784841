import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { collect, type Limit } from "../http/model-service.js";
import { splitCommand } from "./provider.js";

/** Characters of a program's error output. */
const MAX_ERROR = 500;

/** Milliseconds for the last output of a program that has ended: another process may hold its pipes open. */
const LAST_OUTPUT_TIME = 1_000;

/**
 * Runs a program of this machine, without a shell. Whatever it leaves running is killed when it ends. Rejects with an Error
 * that gives the reason of the failure.
 *
 * @param command the program and its arguments, separated by spaces
 * @param fill replaces placeholders in each argument
 * @param limit of the output: more of it ends the program
 */
export async function runProgram(
	command: string,
	fill: (argument: string) => string,
	input: string | Uint8Array,
	signal: AbortSignal,
	limit: Limit,
): Promise<Buffer> {
	signal.throwIfAborted();
	const [program = "", ...args] = splitCommand(command);
	const detached = process.platform !== "win32";
	const child = spawn(program, args.map(fill), { stdio: "pipe", detached, windowsHide: true });
	let problem = "";
	child.stderr.setEncoding("utf8").on("data", (piece: string) => {
		problem = (problem + piece).slice(-MAX_ERROR);
	});
	child.stderr.on("error", () => {});
	child.on("error", () => {});
	// A program that ends without reading its input says why by its status.
	child.stdin.on("error", () => {});
	child.stdin.end(input);
	let hasEnded = false;
	let timer: NodeJS.Timeout | undefined;
	child.once("exit", () => {
		hasEnded = true;
		killGroup(child);
		timer = setTimeout(() => closePipes(child), LAST_OUTPUT_TIME).unref();
	});
	const output = async function* (): AsyncGenerator<Uint8Array> {
		try {
			yield* child.stdout;
		} catch (error) {
			if (!hasEnded) {
				throw error;
			}
		}
	};
	try {
		// Rejects if the program cannot be started, or is stopped.
		const closed = once(child, "close", { signal }) as Promise<[code: number | null]>;
		const [bytes, [code]] = await Promise.all([collect(output(), limit), closed]);
		if (code !== 0) {
			throw new Error(`${program} ended with status ${code}: ${problem.trim() || "no error output"}`);
		}
		return bytes;
	} finally {
		clearTimeout(timer);
		if (!hasEnded) {
			killGroup(child);
		}
		closePipes(child);
	}
}

/** Kills a program and the processes that it has started. */
function killGroup(child: ChildProcess): void {
	try {
		process.kill(-(child.pid as number), "SIGKILL");
	} catch {
		// There is no such group: it has ended, or this is Windows.
		child.kill("SIGKILL");
	}
}

function closePipes({ stdin, stdout, stderr }: ChildProcess): void {
	for (const pipe of [stdin, stdout, stderr]) {
		pipe?.destroy();
	}
}
