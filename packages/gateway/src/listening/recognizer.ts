import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { jsonIn } from "xs-mcp-manager/core";
import { fairLimit } from "../http/fair-share.js";
import { type ModelService, post } from "../http/model-service.js";
import { runProgram } from "../speech/voice.js";

/** Turns speech into text. Rejects with an Error that says why it cannot, without the key. */
type Recognize = (wav: Buffer, signal: AbortSignal) => Promise<string>;

/** The limit of an answer, and characters of the text in it: 30 s of speech have about 600. */
const ANSWER = { what: "the answer", maxBytes: 65_536 };
const MAX_TEXT = 4_000;

/** Milliseconds for a text. */
const TIME = 60_000;

/** Texts that are recognized at the same time, in all and for one client; each may be a program. */
const MAX_RUNNING = { all: 6, perOwner: 2 };

/** Stand for the sound and the language in a program's arguments. */
const FILE = "{file}";
const LANGUAGE = "{language}";

/**
 * Returns the recognizer of a provider, which rejects after 60 s, and recognizes a few texts at a time. Texts have single spaces.
 *
 * @param folder of the sound files that a program reads
 * @param language see {@link programRecognizer}
 */
export function recognizerOf(
	provider: { readonly command: string } | ModelService,
	folder: string,
	language: string | undefined,
): RecognizeFor {
	const recognize =
		"command" in provider
			? programRecognizer(provider.command, folder, language)
			: serviceRecognizer(provider, language);
	const limit = fairLimit(MAX_RUNNING);
	return async (wav, { principal, signal }) => {
		let either = signal;
		try {
			const text = await limit(principal, async () => {
				either = AbortSignal.any([signal, AbortSignal.timeout(TIME)]);
				return await recognize(wav, either);
			});
			return text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT);
		} catch (error) {
			signal.throwIfAborted();
			const { name, message } = error as Error;
			throw new Error(
				`the speech was not recognized: ${either.aborted ? `no text within ${TIME / 1_000} s` : message || name}`,
			);
		}
	};
}

/**
 * A service with the transcription API of OpenAI: `POST /audio/transcriptions`.
 *
 * @param language ISO 639-1: `en`, `ja`, `zh`. Default: the service finds out
 */
function serviceRecognizer(service: ModelService, language: string | undefined): Recognize {
	return async (wav, signal) => {
		const body = new FormData();
		body.set("file", new Blob([Uint8Array.from(wav)], { type: "audio/wav" }), "speech.wav");
		body.set("model", service.model);
		body.set("response_format", "json");
		if (language !== undefined) {
			body.set("language", language);
		}
		const json = jsonIn((await post(service, "/audio/transcriptions", body, signal, ANSWER)).toString());
		if (!isObject(json) || typeof json.text !== "string") {
			throw new Error(json === undefined ? "the answer is not JSON" : "the answer has no text");
		}
		return json.text;
	};
}

/**
 * A program of this machine that writes the text to its output. It is started without a shell.
 *
 * @param command the program and its arguments, separated by spaces; `{file}` is replaced by the path of a WAV file, which it reads from its
 * input otherwise, and `{language}` for the language
 * @param folder the folder of the WAV files
 */
function programRecognizer(command: string, folder: string, language = "auto"): Recognize {
	return async (wav, signal) => {
		const run = async (file: string, input: Buffer | string = ""): Promise<string> => {
			const fill = (argument: string): string => argument.replaceAll(FILE, file).replaceAll(LANGUAGE, language);
			return (await runProgram(command, fill, input, signal, ANSWER)).toString();
		};
		if (!command.includes(FILE)) {
			return await run("", wav);
		}
		await mkdir(folder, { recursive: true, mode: 0o700 });
		const own = await mkdtemp(join(folder, "speech-"));
		try {
			const file = join(own, "speech.wav");
			await writeFile(file, wav, { mode: 0o600 });
			return await run(file);
		} finally {
			await rm(own, { recursive: true, force: true });
		}
	};
}

/** Turns speech of a client into text. Rejects with an Error that says why it cannot, without the key. */
export type RecognizeFor = (
	wav: Buffer,
	caller: { readonly principal: string; readonly signal: AbortSignal },
) => Promise<string>;
