import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { ProgramError } from "../../toolchain/program.js";
import { type Chunk, drawSvg } from "./draw-svg.js";

const SIZE = { columns: 96, rows: 27 };

const TITLE = "npm start: a virtual device, a gateway and an MCP client; then calls of the device's tools at a prompt";

/** Lines to type, each at the prompt with which the output then ends. At the last prompt the recording ends. */
const LINES: readonly (readonly [prompt: string, line?: string])[] = [
	["$ ", "npm start"],
	["> ", "call self.light.set on=true color=#ff8000"],
	["> ", "measure temperature 30"],
	["> ", "press"],
	["> ", 'call self.camera.take_photo question="What is this?"'],
	["> ", "quit"],
	["$ "],
];

/** Milliseconds for which a person reads before typing, and between typed characters. */
const TYPING = { before: 1_500, between: 45 };

/** Milliseconds between two prints, at most; and to look at a printed line, at least. */
const PACE = { longest: 2_000, line: 130 };

/**
 * Records `npm start` and some commands as they are really printed, and draws them. Only the pace is a reader's.
 * The terminal is that of util-linux's `script`.
 *
 * @throws ProgramError if `script` does not exist here, or the shell ends too early
 */
export async function recordFirstMinute(path: string): Promise<string> {
	// A shell that is not interactive drops PS1 from the environment.
	const command = `stty cols ${SIZE.columns} rows ${SIZE.rows}; exec env 'PS1=$ ' bash --norc --noprofile`;
	const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
		env: { ...process.env, TERM: "xterm-256color", COLORTERM: "", npm_config_loglevel: "error" },
		stdio: ["pipe", "pipe", "inherit"],
	});
	const began = performance.now();
	const chunks: Chunk[] = [];
	const expected = [...LINES];
	/** Since the last line was typed; undefined while a person types: what is echoed then is not a prompt. */
	let printed: string | undefined = "";
	const type = async (line: string): Promise<void> => {
		await delay(TYPING.before);
		for (const character of line) {
			child.stdin.write(character);
			await delay(TYPING.between);
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
		throw new ProgramError(`the shell ended too early:\n${chunks.map(({ text }) => text).join("")}`);
	}
	writeFileSync(path, await drawSvg(pace(chunks), { ...SIZE, last: 6_000, title: TITLE }));
	return path;
}

/** The same recording as a person can follow it. */
function pace(chunks: readonly Chunk[]): Chunk[] {
	let before = 0;
	let now = 0;
	let read = 0;
	return chunks.map(({ at, text }) => {
		now = Math.max(now + Math.min(at - before, PACE.longest), read);
		before = at;
		read = now + PACE.line * (text.split("\n").length - 1);
		return { at: now, text };
	});
}
