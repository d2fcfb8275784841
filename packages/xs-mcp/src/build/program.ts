import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError } from "commander";

/** An error that the user can fix: printed in one line, without a stack. */
export class ProgramError extends Error {
	override readonly name: string = "ProgramError";
}

/**
 * Makes a handler that throws an error again as a {@link ProgramError}, for errors that the user can fix.
 *
 * @param what prefix of the message: an option or a file
 */
export function failAs(what?: string): (error: unknown) => never {
	return (error) => {
		const { message } = error as Error;
		throw new ProgramError(what === undefined ? message : `${what}: ${message}`, { cause: error });
	};
}

/** Runs `work`, and converts its error as {@link failAs} does. */
export function attempt<T>(what: string | undefined, work: () => T): T {
	try {
		return work();
	} catch (error) {
		return failAs(what)(error);
	}
}

/** Reads a file of JSON. @throws ProgramError that names it */
export function readJson<T>(file: string): T {
	// npm, too, reads files with a byte order mark.
	return attempt(file, () => JSON.parse(readFileSync(file, "utf8").replace(/^\ufeff/, "")));
}

/** Reads an option's port; 0 is any free one. @throws InvalidArgumentError */
export function readPort(text: string): number {
	if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535) {
		throw new InvalidArgumentError("Expected a port from 0 to 65535.");
	}
	return Number(text);
}

/** Polling interval for the end of npm's process, ms. */
const ORPHAN_CHECK_INTERVAL = 200;

/**
 * Settles at a signal to the process, or to npm, which passes it only to its shell. A terminal, npm and tools/run.mjs may each
 * send the same signal.
 */
export function signalled(): Promise<void> {
	const parent = process.ppid;
	return new Promise((resolve) => {
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
			process.on(signal, () => resolve());
		}
		if (process.env.npm_lifecycle_event !== undefined) {
			setInterval(() => process.ppid !== parent && resolve(), ORPHAN_CHECK_INTERVAL).unref();
		}
	});
}

const EXIT = { failed: 1, usage: 2 } as const;

/**
 * One of the project's programs.
 *
 * @param name the words to type: "npm test --", "xs-mcp flash"
 */
export function makeProgram(name: string, description: string): Command {
	return new Command(name).description(description).exitOverride();
}

/**
 * Runs a program. Its exit code is 2 for an invalid command line, and 1 for a {@link ProgramError}.
 */
export async function runProgram(program: Command, args: readonly string[] = process.argv.slice(2)): Promise<void> {
	process.stdout.on("error", (error: NodeJS.ErrnoException) => {
		if (error.code !== "EPIPE") {
			throw error;
		}
		// The reader has read enough: `npm start | head`.
		process.exit();
	});
	try {
		await program.parseAsync([...args], { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) {
			// Commander has printed the error or the help.
			process.exit(error.exitCode === 0 ? 0 : EXIT.usage);
		}
		if (!(error instanceof ProgramError)) {
			throw error;
		}
		console.error(`error: ${error.message}`);
		process.exit(EXIT.failed);
	}
}
