import { createInterface } from "node:readline/promises";
import { ProgramError } from "../../toolchain/program.js";
import { BOARDS, LANGUAGES } from "./choices.js";

/** Choices for a project. */
export interface Answers {
	readonly folder: string;
	readonly board: string;
	readonly language: string;
}

type Given = { readonly [Name in keyof Answers]: string | undefined };

/**
 * Asks for what is not given, at a terminal. Without one the defaults are taken.
 *
 * @param check throws ProgramError for a folder that cannot be used: another one is asked for
 * @throws ProgramError if there is neither a folder nor a terminal, or the input ends
 */
export async function askFor({ folder, board, language }: Given, check: (folder: string) => void): Promise<Answers> {
	const [firstBoard = "", firstLanguage = ""] = [BOARDS[0], LANGUAGES[0]];
	const isComplete = folder !== undefined && board !== undefined && language !== undefined;
	if (isComplete || !process.stdin.isTTY) {
		if (folder === undefined) {
			throw new ProgramError("the folder is missing: npm create xs-mcp my-device");
		}
		return { folder, board: board ?? firstBoard, language: language ?? firstLanguage };
	}
	const terminal = new Terminal();
	try {
		return {
			folder: folder ?? (await terminal.askUntil("Name", "my-device", check)),
			board: board ?? (await terminal.choose("Board", BOARDS)),
			language: language ?? (await terminal.choose("Language", LANGUAGES)),
		};
	} finally {
		terminal.close();
	}
}

/** A person who answers questions. Input that comes before its question is kept. */
class Terminal {
	readonly #terminal = createInterface({ input: process.stdin, output: process.stdout });
	readonly #lines = this.#terminal[Symbol.asyncIterator]();
	#isClosed = false;

	constructor() {
		this.#terminal.once("close", () => {
			this.#isClosed = true;
		});
	}

	/** Asks until an answer can be used. */
	async askUntil(what: string, preset: string, check: (answer: string) => void): Promise<string> {
		for (;;) {
			const answer = await this.#ask(`${what} [${preset}]: `, preset);
			try {
				check(answer);
				return answer;
			} catch (error) {
				if (!(error instanceof ProgramError)) {
					throw error;
				}
				console.log(`  ${error.message}`);
			}
		}
	}

	/** The same of one of some words, the default first. */
	async choose(what: string, choices: readonly string[]): Promise<string> {
		console.log(`${what}s: ${choices.join(", ")}`);
		return await this.askUntil(what, choices[0] as string, (answer) => {
			if (!choices.includes(answer)) {
				throw new ProgramError(`unknown: ${answer}`);
			}
		});
	}

	close(): void {
		this.#terminal.close();
	}

	/** @throws ProgramError if the input ends */
	async #ask(question: string, preset: string): Promise<string> {
		this.#terminal.setPrompt(question);
		// A closed terminal may still have answers, but takes no prompt.
		if (!this.#isClosed) {
			this.#terminal.prompt();
		}
		const { value, done } = await this.#lines.next();
		if (done) {
			throw new ProgramError("nothing was made");
		}
		return value.trim() || preset;
	}
}
