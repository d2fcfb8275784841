import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { wavFile } from "../../host-test/doubles/wav.js";
import { fileIn, listen, readForm } from "../../host-test/support/testing.js";

/** A call that the model makes whatever it is asked: the tool's name as the server shows it to models. */
export interface ScriptedCall {
	readonly name: string;
	readonly arguments: Record<string, unknown>;
}

/** Where a {@link ScriptedModel} speaks and hears, with OpenAI's API. */
export const SPEECH_PATH = "/speech";
export const TRANSCRIPTION_PATH = "/transcriptions";

/** The text that it hears, for any speech. */
export const TRANSCRIPT = "How is the weather?";

/** Its default speech, unless {@link ScriptedModel.speak} sets another: a tenth of a second. */
const SILENCE = wavFile(new Uint8Array(3_200));

/** A language model with the HTTP API of Dify: it asks for one call, and then repeats what the call gave; or it says some words. */
export class ScriptedModel {
	readonly queries: string[] = [];
	readonly results: string[] = [];
	readonly recordings: Buffer[] = [];
	speak: (text: string) => Uint8Array = () => SILENCE;
	call: ScriptedCall | string;
	url = "";

	private constructor(call: ScriptedCall | string) {
		this.call = call;
	}

	/** @param call what it asks for, or what it says */
	static async listen(test: TestContext, call: ScriptedCall | string): Promise<ScriptedModel> {
		const model = new ScriptedModel(call);
		const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
			if (request.url === SPEECH_PATH) {
				const { input } = (await readJson(request)) as { input: string };
				response.end(model.speak(input));
				return;
			}
			if (request.url === TRANSCRIPTION_PATH) {
				model.recordings.push(await fileIn(await readForm(request)));
				response.end(JSON.stringify({ text: TRANSCRIPT }));
				return;
			}
			const { query } = (await readJson(request)) as { query: string };
			response.end(`data: ${JSON.stringify({ event: "message", answer: model.#answer(query) })}\n\n`);
		};
		// A peer that is stopped cuts its request.
		const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
		model.url = `http://127.0.0.1:${await listen(test, server)}`;
		return model;
	}

	#answer(query: string): string {
		this.queries.push(query);
		const result = /tool call result: (.*?)\n\n/s.exec(query)?.[1];
		if (result !== undefined) {
			this.results.push(result);
			return `The tool says: ${result}`;
		}
		if (typeof this.call === "string") {
			return this.call;
		}
		return `<tool_call>${JSON.stringify(this.call)}</tool_call>`;
	}
}

async function readJson(request: IncomingMessage): Promise<unknown> {
	const text = await readText(request);
	return JSON.parse(text);
}
