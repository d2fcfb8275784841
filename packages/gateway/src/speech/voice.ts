import { type ModelService, post } from "../http/model-service.js";
import { runProgram } from "./run-program.js";

/** Speaks a text. Rejects with an Error that says why it cannot, without the key. */
export type Voice = (text: string, signal: AbortSignal) => Promise<Buffer>;

/** The limit of a WAV file: five minutes at 24 kHz. */
const SOUND = { what: "the sound", maxBytes: 16_777_216 };

/** Stands for the voice in a program's arguments. */
const VOICE = "{voice}";

const DEFAULT_VOICES: ReadonlyMap<string, string> = new Map([
	["ja", "ja"],
	["zh", "cmn"],
	["*", "en"],
]);

/**
 * A service with the speech API of OpenAI: `POST /audio/speech`.
 *
 * @param voices by language: `en`, `ja`, `zh`; or `*` for any other
 */
export function serviceVoice(service: ModelService, voices: ReadonlyMap<string, string>): Voice {
	return async (text, signal) => {
		const voice = voiceFor(text, voices) ?? "alloy";
		const body = JSON.stringify({ model: service.model, input: text, voice, response_format: "wav" });
		return await post(service, "/audio/speech", body, signal, SOUND);
	};
}

/**
 * A program of this machine that reads the text from its input and writes a WAV file to its output. It is started without a
 * shell.
 *
 * @param command the program and its arguments, separated by spaces; `{voice}` is replaced by the voice
 * @param voices default: names of espeak-ng's voices
 */
export function programVoice(command: string, voices: ReadonlyMap<string, string>): Voice {
	return async (text, signal) => {
		const voice = voiceFor(text, voices.size === 0 ? DEFAULT_VOICES : voices) ?? "";
		const fill = (argument: string): string => argument.replaceAll(VOICE, voice);
		return await runProgram(command, fill, `${text}\n`, signal, SOUND);
	};
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
