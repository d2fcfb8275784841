import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { jsonIn } from "xs-mcp-manager/core";
import { fairLimit } from "../http/fair-share.js";
import { type ModelService, post } from "../http/model-service.js";
import type { Caller } from "../speech/device-tools.js";
import { inTime, runProgram } from "../speech/voice.js";

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

/** Turns speech of a client into text. Rejects with an Error that says why it cannot, without the key. */
export type RecognizeFor = (wav: Buffer, caller: Pick<Caller, "principal" | "signal">) => Promise<string>;

/**
 * Returns the recognizer of a provider, which rejects after 60 s, and recognizes a few texts at a time. Texts have single spaces.
 *
 * @param folder of the sound files that a program reads
 * @param language ISO 639-1: `en`, `ja`, `zh`. Undefined: the provider finds out
 */
export function recognizerOf(
	provider: { readonly command: string } | ModelService,
	folder: string,
	language: string | undefined,
): RecognizeFor {
	const limit = fairLimit(MAX_RUNNING);
	return async (wav, { principal, signal }) => {
		const text = await limit(principal, () =>
			inTime("the speech was not recognized", "text", TIME, signal, (either) =>
				"command" in provider
					? recognizeByProgram(provider.command, wav, either, folder, language)
					: recognizeByService(provider, wav, either, language),
			),
		);
		return text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT);
	};
}

/** Asks a service with the transcription API of OpenAI: `POST /audio/transcriptions`. */
async function recognizeByService(
	service: ModelService,
	wav: Buffer,
	signal: AbortSignal,
	language: string | undefined,
): Promise<string> {
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
}

/** Asks a program. `{file}` in the command is replaced by the path of a WAV file, which it reads from its input otherwise. */
async function recognizeByProgram(
	command: string,
	wav: Buffer,
	signal: AbortSignal,
	folder: string,
	language = "auto",
): Promise<string> {
	const run = async (file: string, input: Buffer | string): Promise<string> => {
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
		return await run(file, "");
	} finally {
		await rm(own, { recursive: true, force: true });
	}
}
