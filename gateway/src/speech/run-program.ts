import { spawn } from "node:child_process";
import { once } from "node:events";
import { collect } from "../net/model-service.js";

interface ProgramOptions {
	/** Replaces placeholders in each argument. */
	readonly fill: (argument: string) => string;
	/** The program's input. Default: none. */
	readonly input?: string | Uint8Array | undefined;
	/** Ends the program. */
	readonly signal: AbortSignal;
	/** Names its output in an error. */
	readonly what: string;
	/** More output ends the program. */
	readonly maxBytes: number;
}

/** Characters of a program's error output. */
const MAX_ERROR = 500;

/**
 * Runs a program of this machine, without a shell. Rejects with an Error that says why it has failed.
 *
 * @param command the program and its arguments, separated by spaces
 */
export async function runProgram(
	command: string,
	{ fill, input = "", signal, what, maxBytes }: ProgramOptions,
): Promise<Buffer> {
	const [program = "", ...args] = command.trim().split(/\s+/);
	const child = spawn(program, args.map(fill), { stdio: ["pipe", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
	let problem = "";
	child.stderr.setEncoding("utf8").on("data", (piece: string) => {
		problem = (problem + piece).slice(-MAX_ERROR);
	});
	// A program that ends without reading its input says why by its status.
	child.stdin.on("error", () => {});
	child.stdin.end(input);
	// Rejects if the program cannot be started, or is stopped.
	const ended = once(child, "close") as Promise<[code: number | null]>;
	ended.catch(() => {});
	try {
		const output = await collect(child.stdout, what, maxBytes);
		const [code] = await ended;
		if (code !== 0) {
			throw new Error(`${program} ended with status ${code}: ${problem.trim() || "no error output"}`);
		}
		return output;
	} catch (error) {
		child.kill("SIGKILL");
		throw error;
	}
}
