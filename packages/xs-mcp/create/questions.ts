import { createInterface } from "node:readline/promises";
import { TARGETS } from "xs-mcp/build/check-board";
import { ProgramError } from "xs-mcp/build/program";
import { SETTINGS } from "xs-mcp-firmware/core/settings-table";
import { profileNameOf, readBoard } from "xs-mcp-virtual-device/boards";

/** The boards of the question, the default first. */
export const BOARDS: readonly string[] = TARGETS.map(profileNameOf);

/** Reads the name of a board that the question offers. @throws InvalidArgumentError that suggests a similar one */
export const readOffered = (text: string): string => readBoard(text, BOARDS);

/** The languages of the firmware's own words, the default first. */
export const LANGUAGES: readonly string[] = SETTINGS.language.choices.map(String);

/** mcconfig's name of a board. */
export function targetOf(board: string): string {
	return board === "esp32" ? board : `esp32/${board}`;
}

/** Choices for a project. */
export interface Answers {
	readonly folder: string;
	readonly board: string;
	readonly language: string;
}

type Given = { readonly [Name in keyof Answers]: string | undefined };

/**
 * Asks for missing answers at a terminal. Without one, uses the defaults.
 *
 * @param readFolder returns the folder, and throws ProgramError if it cannot be used: another one is asked for
 * @throws ProgramError if there is neither a folder nor a terminal, or the input ends
 */
export async function askFor(
	{ folder, board, language }: Given,
	readFolder: (text: string) => string,
): Promise<Answers> {
	const [firstBoard = "", firstLanguage = ""] = [BOARDS[0], LANGUAGES[0]];
	const isComplete = folder !== undefined && board !== undefined && language !== undefined;
	if (isComplete || !process.stdin.isTTY) {
		if (folder === undefined) {
			throw new ProgramError("the folder is missing: npm create xs-mcp my-device");
		}
		return { folder, board: board ?? firstBoard, language: language ?? firstLanguage };
	}
	const terminal = createInterface({ input: process.stdin, output: process.stdout });
	let isClosed = false;
	terminal.once("close", () => {
		isClosed = true;
	});
	// Input that comes before its question is kept.
	const lines = terminal[Symbol.asyncIterator]();
	const ask = async (what: string, preset: string, read: (answer: string) => string): Promise<string> => {
		for (;;) {
			terminal.setPrompt(`${what} [${preset}]: `);
			// A closed terminal may still have answers, but takes no prompt.
			if (!isClosed) {
				terminal.prompt();
			}
			const { value, done } = await lines.next();
			if (done) {
				throw new ProgramError("nothing was made");
			}
			try {
				return read(value.trim() || preset);
			} catch (error) {
				console.log(`  ${(error as ProgramError).message}`);
			}
		}
	};
	const choose = async (
		what: string,
		choices: readonly string[],
		read = (answer: string) => answer,
	): Promise<string> => {
		console.log(`${what}s: ${choices.join(", ")}`);
		return await ask(what, choices[0] ?? "", (answer) => {
			if (!choices.includes(read(answer))) {
				throw new ProgramError(`expected ${choices.join(", ")}`);
			}
			return read(answer);
		});
	};
	try {
		return {
			folder: folder ?? (await ask("Name", "my-device", readFolder)),
			board: board ?? (await choose("Board", BOARDS, readOffered)),
			language: language ?? (await choose("Language", LANGUAGES)),
		};
	} finally {
		terminal.close();
	}
}
