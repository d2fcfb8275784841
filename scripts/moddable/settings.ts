import { type Command, InvalidArgumentError } from "commander";

/** Adds settings of the firmware to a command: NAME=VALUE, as mcconfig takes them. */
export function addSettings(program: Command, examples: string): Command {
	const collect = (word: string, settings: readonly string[] = []): readonly string[] => {
		if (!/^[A-Za-z]\w*=/.test(word)) {
			throw new InvalidArgumentError(`Expected NAME=VALUE, got ${word}.`);
		}
		return [...settings, word];
	};
	return program.argument("[settings...]", `settings of the firmware: ${examples}`, collect, []);
}
