import { Command, CommanderError } from "commander";

/** An error that the user can fix: printed in one line, without a stack. */
export class ProgramError extends Error {
	override readonly name: string = "ProgramError";
}

const EXIT = { failed: 1, usage: 2 } as const;

/**
 * One of the project's programs.
 *
 * @param script as npm is told to run it: "run flash", "test", "start"
 */
export function makeProgram(script: string, description: string): Command {
	return new Command(`npm ${script} --`).description(description).exitOverride();
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
