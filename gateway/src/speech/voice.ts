import { spawn } from "node:child_process";
import { once } from "node:events";

/** Speaks a text. Rejects with an Error that says why it cannot, without the key. */
export type Voice = (text: string, signal: AbortSignal) => Promise<Buffer>;

export interface ServiceOptions {
	/** The base URL of an OpenAI-compatible API: `https://HOST/v1`. */
	readonly url: string;
	readonly model: string;
	readonly key?: string | undefined;
	/** By language: `en`, `ja`, `zh`; or `*` for any other. */
	readonly voices: ReadonlyMap<string, string>;
}

/** Bytes of a WAV file: five minutes at 24 kHz. */
const MAX_WAV = 16_777_216;

/** Characters of a program's error output. */
const MAX_ERROR = 500;

/** Stands for the voice in a program's arguments. */
const VOICE = "{voice}";

const DEFAULT_VOICES: ReadonlyMap<string, string> = new Map([
	["ja", "ja"],
	["zh", "cmn"],
	["*", "en"],
]);

/** A service with the speech API of OpenAI: `POST /audio/speech`. */
export function serviceVoice({ url, model, key, voices }: ServiceOptions): Voice {
	return async (text, signal) => {
		const response = await fetch(`${url.replace(/\/+$/, "")}/audio/speech`, {
			method: "POST",
			headers: { "Content-Type": "application/json", ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
			body: JSON.stringify({ model, input: text, voice: voiceFor(text, voices) ?? "alloy", response_format: "wav" }),
			redirect: "error",
			signal,
		});
		if (!response.ok) {
			await response.body?.cancel();
			throw new Error(`HTTP status ${response.status}`);
		}
		return await collect(response.body ?? []);
	};
}

/**
 * A program of this machine that reads the text from its input and writes a WAV file to its output. It is started without a
 * shell.
 *
 * @param command the program and its arguments, separated by spaces; `{voice}` stands for the voice
 * @param voices default: names of espeak-ng's voices
 */
export function programVoice(command: string, voices: ReadonlyMap<string, string>): Voice {
	const [program = "", ...args] = command.trim().split(/\s+/);
	return async (text, signal) => {
		const voice = voiceFor(text, voices.size === 0 ? DEFAULT_VOICES : voices) ?? "";
		const child = spawn(
			program,
			args.map((arg) => arg.replaceAll(VOICE, voice)),
			{ stdio: ["pipe", "pipe", "pipe"], signal, killSignal: "SIGKILL" },
		);
		let problem = "";
		child.stderr.setEncoding("utf8").on("data", (piece: string) => {
			problem = (problem + piece).slice(-MAX_ERROR);
		});
		// A program that ends without reading its input says why by its status.
		child.stdin.on("error", () => {});
		child.stdin.end(`${text}\n`);
		// Rejects if the program cannot be started, or is stopped.
		const ended = once(child, "close") as Promise<[code: number | null]>;
		ended.catch(() => {});
		try {
			const wav = await collect(child.stdout);
			const [code] = await ended;
			if (code !== 0) {
				throw new Error(`${program} ended with status ${code}: ${problem.trim() || "no error output"}`);
			}
			return wav;
		} catch (error) {
			child.kill("SIGKILL");
			throw error;
		}
	};
}

/** Rejects with an Error if there are more bytes than a WAV file may have. */
async function collect(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Buffer> {
	const kept: Uint8Array[] = [];
	let bytes = 0;
	for await (const piece of pieces) {
		bytes += piece.length;
		if (bytes > MAX_WAV) {
			throw new Error(`the sound is too long (limit ${MAX_WAV} bytes)`);
		}
		kept.push(piece);
	}
	return Buffer.concat(kept);
}

function voiceFor(text: string, voices: ReadonlyMap<string, string>): string | undefined {
	return voices.get(languageOf(text)) ?? voices.get("*");
}

/** The language of a text by its script: kana are Japanese, Chinese characters without any are Chinese. */
function languageOf(text: string): "ja" | "zh" | "ko" | "ru" | "en" {
	if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) {
		return "ja";
	}
	if (/\p{Script=Hangul}/u.test(text)) {
		return "ko";
	}
	if (/\p{Script=Han}/u.test(text)) {
		return "zh";
	}
	return /\p{Script=Cyrillic}/u.test(text) ? "ru" : "en";
}
