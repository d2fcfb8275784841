import * as z from "zod";
import { type ModelService, post } from "../../http/model-service.js";
import type { Picture } from "./pictures.js";

/** Milliseconds for the whole answer: less than a device waits. */
const TIMEOUT = 20_000;

/** The limit of an answer. */
const LIMIT = { what: "the answer", maxBytes: 256 * 1024 };

/** Characters of the text for the device, whose memory is small. */
const MAX_TEXT = 2_000;

/** The first choice of a chat completion. */
const COMPLETION = z.object({
	choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

/**
 * Asks a vision model a question about a picture: any service with the Chat Completions API of OpenAI. Rejects with an Error that
 * does not contain the key.
 */
export async function askVisionModel(
	service: ModelService,
	question: string,
	{ mimeType, data }: Picture,
	timeout = TIMEOUT,
): Promise<string> {
	const image = { url: `data:${mimeType};base64,${data.toString("base64")}` };
	const content = [
		{ type: "text", text: question },
		{ type: "image_url", image_url: image },
	];
	const body = JSON.stringify({ model: service.model, messages: [{ role: "user", content }] });
	const answer = await post(service, "/chat/completions", body, AbortSignal.timeout(timeout), LIMIT);
	const { data: completion } = COMPLETION.safeParse(JSON.parse(answer.toString()));
	if (completion === undefined) {
		throw new Error("no text in the response: expected choices[0].message.content");
	}
	return completion.choices[0].message.content.slice(0, MAX_TEXT);
}
