import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { killGroup } from "xs-mcp/build/kill-group";
import type { Configuration } from "../config/settings.js";
import { collect, type Limit, type ModelService, post } from "../http/model-service.js";
import { type SettingKind, text } from "../plugin.js";

/** Speaks a text. Rejects with an Error that says why it cannot, without the key. */
export type Voice = (text: string, signal: AbortSignal) => Promise<Buffer>;

/** The limit of a WAV file: five minutes at 24 kHz. */
const SOUND = { what: "the sound", maxBytes: 16_777_216 };

/** Stands for the voice in a program's arguments. */
const VOICE = "{voice}";

/** Voices of espeak-ng. */
const DEFAULT_VOICES: ReadonlyMap<string, string> = new Map([
	["ja", "ja"],
	["zh", "cmn"],
	["*", "en"],
]);

/** Returns the voice that the settings name; undefined if they name none. */
export function voiceOf(configuration: Configuration): Voice | undefined {
	const { speechVoices: voices } = configuration;
	const provider = readProvider(configuration, "speech");
	if (provider === undefined) {
		return undefined;
	}
	return async (text, signal) => {
		if ("command" in provider) {
			const voice = voiceFor(text, voices.size === 0 ? DEFAULT_VOICES : voices) ?? "";
			const fill = (argument: string): string => argument.replaceAll(VOICE, voice);
			return await runProgram(provider.command, fill, `${text}\n`, signal, SOUND);
		}
		const voice = voiceFor(text, voices) ?? "alloy";
		const body = JSON.stringify({ model: provider.model, input: text, voice, response_format: "wav" });
		return await post(provider, "/audio/speech", body, signal, SOUND);
	};
}

/** Languages by their scripts: kana are Japanese, Chinese characters without any are Chinese. */
const SCRIPTS = [
	[/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
	[/\p{Script=Hangul}/u, "ko"],
	[/\p{Script=Han}/u, "zh"],
	[/\p{Script=Cyrillic}/u, "ru"],
] as const;

function voiceFor(text: string, voices: ReadonlyMap<string, string>): string | undefined {
	const [, language = "en"] = SCRIPTS.find(([script]) => script.test(text)) ?? [];
	return voices.get(language) ?? voices.get("*");
}

/** Use of a provider, by which its settings begin. */
type Use = "speech" | "transcription";

/**
 * Reads the provider of speech or transcription: a program of this machine, which is started without a shell, or a service with
 * an API like OpenAI's. Undefined if none is configured.
 */
export function readProvider(
	configuration: Configuration,
	use: Use,
): { readonly command: string } | ModelService | undefined {
	const command = configuration[`${use}Command`];
	const [url, model, key] = [configuration[`${use}Url`], configuration[`${use}Model`], configuration[`${use}Key`]];
	if (command !== undefined) {
		return { command };
	}
	return url === undefined || model === undefined ? undefined : { url, model, key };
}

/** Runs `ask` with a timeout. Rejects with an Error: `problem`, then the reason. */
export async function inTime<Result>(
	problem: string,
	result: string,
	milliseconds: number,
	signal: AbortSignal,
	ask: (limit: AbortSignal) => Promise<Result>,
): Promise<Result> {
	const limit = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
	try {
		return await ask(limit);
	} catch (error) {
		signal.throwIfAborted();
		const { name, message } = error as Error;
		throw new Error(`${problem}: ${limit.aborted ? `no ${result} within ${milliseconds / 1_000} s` : message || name}`);
	}
}

/** Returns the problems of its settings. A program is not looked for on Windows, which finds programs by their endings. */
export function checkProvider(configuration: Configuration, use: Use): string[] {
	const { [`${use}Command` as const]: command, [`${use}Url` as const]: url } = configuration;
	if (command === undefined) {
		return [];
	}
	const problems = url === undefined ? [] : [`${use}Command, ${use}Url: only one of them can be set`];
	const [program = ""] = splitCommand(command);
	const folders = (process.env.PATH ?? "").split(delimiter);
	const paths = program.includes("/") ? [program] : folders.map((folder) => join(folder, program));
	if (process.platform !== "win32" && !paths.some(isExecutable)) {
		const where = program.includes("/") ? "" : " in a folder of PATH";
		problems.push(`${use}Command: no program ${program}${where}`);
	}
	return problems;
}

/** A program and its arguments, which may hold keys: only the program is printed. */
export const COMMAND: SettingKind<string> = {
	...text("command"),
	shown: (command) => {
		const [program, ...args] = splitCommand(command);
		return args.length === 0 ? program : `${program} ***`;
	},
};

/** Splits a command into its program and arguments, at spaces. A word in quotes may contain some. */
function splitCommand(command: string): string[] {
	const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
	return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Characters of a program's error output. */
const MAX_ERROR = 500;

/** Milliseconds for the last output of a program that has ended: another process may hold its pipes open. */
const LAST_OUTPUT_TIME = 1_000;

/**
 * Runs a program of this machine, without a shell. Whatever it leaves running is killed when it ends. Rejects with an Error
 * that gives the reason of the failure.
 *
 * @param command the program and its arguments, separated by spaces
 * @param fill replaces placeholders in each argument
 * @param limit of the output: more of it ends the program
 */
export async function runProgram(
	command: string,
	fill: (argument: string) => string,
	input: string | Uint8Array,
	signal: AbortSignal,
	limit: Limit,
): Promise<Buffer> {
	signal.throwIfAborted();
	const [program = "", ...args] = splitCommand(command);
	const detached = process.platform !== "win32";
	const child = spawn(program, args.map(fill), { stdio: "pipe", detached, windowsHide: true });
	let problem = "";
	child.stderr.setEncoding("utf8").on("data", (piece: string) => {
		problem = (problem + piece).slice(-MAX_ERROR);
	});
	child.stderr.on("error", () => {});
	child.on("error", () => {});
	// A program that ends without reading its input says why by its status.
	child.stdin.on("error", () => {});
	child.stdin.end(input);
	let hasEnded = false;
	let timer: NodeJS.Timeout | undefined;
	child.once("exit", () => {
		hasEnded = true;
		killGroup(child);
		timer = setTimeout(() => closePipes(child), LAST_OUTPUT_TIME).unref();
	});
	const output = async function* (): AsyncGenerator<Uint8Array> {
		try {
			yield* child.stdout;
		} catch (error) {
			if (!hasEnded) {
				throw error;
			}
		}
	};
	try {
		// Rejects if the program cannot be started, or is stopped.
		const closed = once(child, "close", { signal }) as Promise<[code: number | null]>;
		const [bytes, [code]] = await Promise.all([collect(output(), limit), closed]);
		if (code !== 0) {
			throw new Error(`${program} ended with status ${code}: ${problem.trim() || "no error output"}`);
		}
		return bytes;
	} finally {
		clearTimeout(timer);
		if (!hasEnded) {
			killGroup(child);
		}
		closePipes(child);
	}
}

function closePipes({ stdin, stdout, stderr }: ChildProcess): void {
	for (const pipe of [stdin, stdout, stderr]) {
		pipe?.destroy();
	}
}
