import { type Command, InvalidArgumentError } from "commander";
import { checkSettings } from "./check-settings.js";

/**
 * Adds settings of the firmware to a command: NAME=VALUE, as mcconfig takes them. They are checked before it runs.
 *
 * @param folder of the manifest
 */
export function addSettings(program: Command, folder: string, examples: string): Command {
	const collect = (word: string, settings: readonly string[] = []): readonly string[] => {
		if (!/^[A-Za-z]\w*=/.test(word)) {
			throw new InvalidArgumentError(`Expected NAME=VALUE, got ${word}.`);
		}
		return [...settings, word];
	};
	return program
		.argument("[settings...]", `settings of the firmware: ${examples}`, collect, [])
		.hook("preAction", ({ processedArgs: [words] }) => checkSettings(words, folder));
}
