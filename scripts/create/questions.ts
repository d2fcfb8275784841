import { createInterface } from "node:readline/promises";
import { ProgramError } from "../../toolchain/program.js";
import { BOARDS, LANGUAGES } from "./choices.js";

/** What a project is made of. */
export interface Answers {
	readonly folder: string;
	readonly board: string;
	readonly language: string;
}

type Given = { readonly [Name in keyof Answers]: string | undefined };

/**
 * Asks for what is not given, at a terminal. Without one the defaults are taken.
 *
 * @throws ProgramError if there is neither a folder nor a terminal, or the input ends
 */
export async function askFor({ folder, board, language }: Given): Promise<Answers> {
	const [firstBoard = "", firstLanguage = ""] = [BOARDS[0], LANGUAGES[0]];
	const isComplete = folder !== undefined && board !== undefined && language !== undefined;
	if (isComplete || !process.stdin.isTTY) {
		if (folder === undefined) {
			throw new ProgramError("the folder is missing: npm create xs-mcp my-device");
		}
		return { folder, board: board ?? firstBoard, language: language ?? firstLanguage };
	}
	const terminal = createInterface({ input: process.stdin, output: process.stdout });
	const left = new Promise<never>((_, reject) => {
		terminal.once("close", () => reject(new ProgramError("nothing was made")));
	});
	const ask = (question: string): Promise<string> => Promise.race([terminal.question(question), left]);
	const choose = async (what: string, choices: readonly string[]): Promise<string> => {
		for (;;) {
			const answer = (await ask(`${what} (${choices.join(", ")}) [${choices[0]}]: `)).trim() || (choices[0] as string);
			if (choices.includes(answer)) {
				return answer;
			}
			console.log(`  unknown: ${answer}`);
		}
	};
	try {
		return {
			folder: folder ?? ((await ask("Name [my-device]: ")).trim() || "my-device"),
			board: board ?? (await choose("Board", BOARDS)),
			language: language ?? (await choose("Language", LANGUAGES)),
		};
	} finally {
		left.catch(() => {});
		terminal.close();
	}
}
