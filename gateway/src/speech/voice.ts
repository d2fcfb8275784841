import { collect, runProgram } from "./run-program.js";

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
		return await collectSound(response.body ?? []);
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
	return async (text, signal) => {
		const voice = voiceFor(text, voices.size === 0 ? DEFAULT_VOICES : voices) ?? "";
		const fill = (argument: string): string => argument.replaceAll(VOICE, voice);
		return await runProgram(command, { fill, input: `${text}\n`, signal, read: collectSound });
	};
}

async function collectSound(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Buffer> {
	return await collect(pieces, "the sound", MAX_WAV);
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
