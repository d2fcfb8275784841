import { type Command, InvalidArgumentError } from "commander";
import { GLYPH_SETS } from "../../toolchain/fonts/glyph-sets.js";
import { checkSettings } from "./check-settings.js";
import { SdkError } from "./sdk.js";

/** The setting that names a set of glyphs. */
const GLYPHS = "glyphs=";

/**
 * Adds settings of the firmware to a command: NAME=VALUE, as mcconfig takes them. They are checked before it runs.
 *
 * @param folder the manifest's
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

/**
 * Takes the setting `glyphs` out of a command line: it names a file, so the manifests have it as a variable.
 *
 * @throws SdkError if there is no such set
 */
export function takeGlyphs(
	args: readonly string[],
	env: NodeJS.ProcessEnv,
): { env: NodeJS.ProcessEnv; rest: readonly string[] } {
	const setting = args.filter((arg) => arg.startsWith(GLYPHS)).at(-1);
	if (setting === undefined) {
		return { env, rest: args };
	}
	const set = setting.slice(GLYPHS.length);
	if (!GLYPH_SETS.some((each) => each === set)) {
		throw new SdkError(`glyphs: unknown set ${set}. Known sets: ${GLYPH_SETS.join(", ")}`);
	}
	return { env: { ...env, GLYPHS: set }, rest: args.filter((arg) => !arg.startsWith(GLYPHS)) };
}
