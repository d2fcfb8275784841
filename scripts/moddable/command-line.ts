import { type ParseArgsConfig, parseArgs } from "node:util";
import { SdkError } from "./sdk.js";

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** A command line as it was understood: flags, and settings of the firmware as they were written. */
export interface CommandLine<Options extends Flags> {
	readonly values: ReturnType<typeof parseArgs<{ options: Options; allowPositionals: true }>>["values"];
	readonly settings: readonly string[];
}

/**
 * Reads a command line of flags and of settings for the firmware, NAME=VALUE, as mcconfig takes them.
 *
 * @throws SdkError that names what it does not understand
 */
export function parseCommandLine<const Options extends Flags>(
	args: readonly string[],
	options: Options,
): CommandLine<Options> {
	const { values, positionals } = parse(args, options);
	const wrong = positionals.find((word) => !/^[A-Za-z]\w*=/.test(word));
	if (wrong !== undefined) {
		throw new SdkError(`expected NAME=VALUE, got ${wrong}`);
	}
	return { values, settings: positionals };
}

function parse<const Options extends Flags>(args: readonly string[], options: Options) {
	try {
		return parseArgs({ args: [...args], options, allowPositionals: true });
	} catch (error) {
		throw new SdkError((error as Error).message);
	}
}

/** Runs one of the project's commands: what keeps it from its work is told in a line, and ends it with exit code 1. */
export async function runCommand(name: string, run: () => Promise<void>): Promise<void> {
	try {
		await run();
	} catch (error) {
		if (!(error instanceof SdkError)) {
			throw error;
		}
		console.error(`npm run ${name}: ${error.message}`);
		process.exit(1);
	}
}
