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
 * Runs a program. It ends with exit code 2 where the command line makes no sense, with 1 where a {@link ProgramError} is
 * thrown.
 */
export async function runProgram(program: Command, args: readonly string[] = process.argv.slice(2)): Promise<void> {
	try {
		await program.parseAsync([...args], { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) {
			// Commander has said what is wrong, or shown the help.
			process.exit(error.exitCode === 0 ? 0 : EXIT.usage);
		}
		if (!(error instanceof ProgramError)) {
			throw error;
		}
		console.error(`error: ${error.message}`);
		process.exit(EXIT.failed);
	}
}
