import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { ProgramError } from "../../toolchain/program.js";

/** What a terminal printed at once. */
export interface Chunk {
	/** Milliseconds since the start. */
	readonly at: number;
	/** With the terminal's control sequences. */
	readonly text: string;
}

/** What a person types, once the terminal shows a prompt. */
export interface Step {
	/** The prompt, at the end of what is printed. */
	readonly prompt: string;
	readonly type: string;
}

interface Terminal {
	/** For `sh -c`. */
	readonly command: string;
	readonly columns: number;
	readonly rows: number;
	/** Milliseconds between typed characters. */
	readonly typing: number;
	/** Milliseconds for which a person reads before typing. */
	readonly reading: number;
	readonly steps: readonly Step[];
	/** The prompt at which the recording ends. */
	readonly until: string;
	readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command in a terminal, types at its prompts, and records what it prints. The terminal is that of util-linux's `script`.
 *
 * @throws ProgramError if `script` does not exist here, or the command ends too early
 */
export async function recordTerminal({ command, columns, rows, env, ...person }: Terminal): Promise<Chunk[]> {
	const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
	const child = spawn("script", ["--quiet", "--flush", "--return", "--command", sized, "/dev/null"], {
		env: { ...process.env, TERM: "xterm-256color", COLORTERM: "", ...env },
		stdio: ["pipe", "pipe", "inherit"],
	});
	const began = performance.now();
	const chunks: Chunk[] = [];
	const typist = new Typist(person, child.stdin);
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		if (!typist.done) {
			chunks.push({ at: performance.now() - began, text });
			typist.see(text);
		}
	});
	try {
		await once(child, "close");
	} catch {
		throw new ProgramError("no script here: a recording needs the command of util-linux");
	}
	if (!typist.done) {
		throw new ProgramError(`${command} ended too early:\n${chunks.map(({ text }) => text).join("")}`);
	}
	return chunks;
}

type Person = Pick<Terminal, "typing" | "reading" | "steps" | "until">;

/** Types the steps, then ends the input. */
class Typist {
	done = false;
	readonly #person: Person;
	readonly #input: Writable;
	#step = 0;
	#seen = "";
	#isTyping = false;

	constructor(person: Person, input: Writable) {
		this.#person = person;
		this.#input = input;
	}

	see(text: string): void {
		this.#seen += text;
		const { steps, until, reading } = this.#person;
		const step = steps[this.#step];
		if (this.#isTyping || !stripVTControlCharacters(this.#seen).endsWith(step?.prompt ?? until)) {
			return;
		}
		if (step === undefined) {
			this.done = true;
			this.#input.end();
			return;
		}
		this.#isTyping = true;
		setTimeout(() => this.#typeNext(`${step.type}\r`), reading);
	}

	#typeNext(rest: string): void {
		if (rest === "\r") {
			this.#isTyping = false;
			this.#seen = "";
			this.#step += 1;
		}
		this.#input.write(rest.slice(0, 1));
		if (rest.length > 1) {
			setTimeout(() => this.#typeNext(rest.slice(1)), this.#person.typing);
		}
	}
}

/**
 * The same recording as a person can follow it.
 *
 * @param longest milliseconds between two prints, at most
 * @param line milliseconds to look at a printed line, at least
 */
export function pace(chunks: readonly Chunk[], { longest, line }: { longest: number; line: number }): Chunk[] {
	let before = 0;
	let now = 0;
	let read = 0;
	return chunks.map(({ at, text }) => {
		now = Math.max(now + Math.min(at - before, longest), read);
		before = at;
		read = now + line * (text.split("\n").length - 1);
		return { at: now, text };
	});
}
