import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { ProgramError } from "../../toolchain/program.js";

/** Output of a terminal at one moment. */
export interface Chunk {
	/** Milliseconds since the start. */
	readonly at: number;
	/** With the terminal's control sequences. */
	readonly text: string;
}

interface Session {
	/** For `sh -c`. */
	readonly command: string;
	readonly columns: number;
	readonly rows: number;
	/** Milliseconds for which a person reads before typing, and between typed characters. */
	readonly reading: number;
	readonly typing: number;
	/** Lines to type, each at the prompt with which the output then ends. */
	readonly lines: readonly (readonly [prompt: string, line: string])[];
	/** The prompt at which the recording ends. */
	readonly until: string;
}

/**
 * Runs a command in a terminal, types at its prompts, and records what it prints. The terminal is that of util-linux's `script`.
 *
 * @throws ProgramError if `script` does not exist here, or the command ends too early
 */
export async function recordTerminal(session: Session): Promise<Chunk[]> {
	const { command, columns, rows, reading, typing, lines, until } = session;
	const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
	const child = spawn("script", ["--quiet", "--flush", "--return", "--command", sized, "/dev/null"], {
		env: { ...process.env, TERM: "xterm-256color", COLORTERM: "", npm_config_loglevel: "error" },
		stdio: ["pipe", "pipe", "inherit"],
	});
	const began = performance.now();
	const chunks: Chunk[] = [];
	const expected = [...lines, [until, undefined] as const];
	/** Since the last line was typed; undefined while a person types: what is echoed then is not a prompt. */
	let printed: string | undefined = "";
	const type = async (line: string): Promise<void> => {
		await delay(reading);
		for (const character of line) {
			child.stdin.write(character);
			await delay(typing);
		}
		printed = "";
		child.stdin.write("\r");
	};
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		const [prompt, line] = expected[0] ?? [];
		if (prompt === undefined) {
			return;
		}
		chunks.push({ at: performance.now() - began, text });
		printed = printed === undefined ? undefined : printed + text;
		if (printed !== undefined && stripVTControlCharacters(printed).endsWith(prompt)) {
			expected.shift();
			printed = undefined;
			void (line === undefined ? child.stdin.end() : type(line));
		}
	});
	await once(child, "close").catch(() => {
		throw new ProgramError("no script here: a recording needs the command of util-linux");
	});
	if (expected.length > 0) {
		throw new ProgramError(`${command} ended too early:\n${chunks.map(({ text }) => text).join("")}`);
	}
	return chunks;
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
