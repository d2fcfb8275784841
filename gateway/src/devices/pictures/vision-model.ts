import * as z from "zod";
import { type ModelService, post } from "../../net/model-service.js";
import type { Picture } from "./pictures.js";

interface VisionModelOptions extends ModelService {
	/** Milliseconds for the whole answer. Default 20,000: less than a device waits. */
	readonly timeout?: number;
}

/** The limit of an answer. */
const LIMIT = { what: "the answer", maxBytes: 256 * 1024 };

/** Characters of the text for the device, whose memory is small. */
const MAX_TEXT = 2_000;

/** The first choice of a chat completion. */
const COMPLETION = z.object({
	choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

/** A vision model: any service with the Chat Completions API of OpenAI. */
export class VisionModel {
	readonly #options: VisionModelOptions;

	constructor(options: VisionModelOptions) {
		this.#options = options;
	}

	/** Asks a question about a picture. Rejects with an Error that does not contain the key. */
	async ask(question: string, { mimeType, data }: Picture): Promise<string> {
		const { model, timeout = 20_000 } = this.#options;
		const image = { url: `data:${mimeType};base64,${data.toString("base64")}` };
		const content = [
			{ type: "text", text: question },
			{ type: "image_url", image_url: image },
		];
		const body = JSON.stringify({ model, messages: [{ role: "user", content }] });
		const signal = AbortSignal.timeout(timeout);
		const answer = await post(this.#options, { path: "/chat/completions", body, signal, ...LIMIT });
		const { data: completion } = COMPLETION.safeParse(JSON.parse(answer.toString()));
		if (completion === undefined) {
			throw new Error("no text in the response: expected choices[0].message.content");
		}
		return completion.choices[0].message.content.slice(0, MAX_TEXT);
	}
}
