import { isObject } from "../../firmware.js";
import type { Picture } from "./pictures.js";

interface VisionModelOptions {
	/** The base URL of an OpenAI-compatible API: `https://HOST/v1`. */
	readonly url: string;
	readonly model: string;
	readonly key?: string | undefined;
	/** Milliseconds for the whole answer. Default 20,000: less than a device waits. */
	readonly timeout?: number;
}

/** Bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Characters of the text for the device, whose memory is small. */
const MAX_TEXT = 2_000;

/** A vision model: any service with the Chat Completions API of OpenAI. */
export class VisionModel {
	readonly #options: VisionModelOptions;

	constructor(options: VisionModelOptions) {
		this.#options = options;
	}

	/** Asks a question about a picture. Rejects with an Error that does not contain the key. */
	async ask(question: string, { mimeType, data }: Picture): Promise<string> {
		const { url, model, key, timeout = 20_000 } = this.#options;
		const image = { url: `data:${mimeType};base64,${data.toString("base64")}` };
		const content = [
			{ type: "text", text: question },
			{ type: "image_url", image_url: image },
		];
		const response = await fetch(`${url.replace(/\/+$/, "")}/chat/completions`, {
			method: "POST",
			headers: { "Content-Type": "application/json", ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
			body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
			redirect: "error",
			signal: AbortSignal.timeout(timeout),
		});
		const text = await readText(response);
		if (!response.ok) {
			throw new Error(`HTTP status ${response.status}`);
		}
		return textIn(text).slice(0, MAX_TEXT);
	}
}

async function readText({ body }: Response): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
		bytes += chunk.length;
		if (bytes > MAX_ANSWER_BYTES) {
			throw new Error(`response too large (limit ${MAX_ANSWER_BYTES} bytes)`);
		}
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString();
}

/** The text of a chat completion. */
function textIn(json: string): string {
	const answer: unknown = JSON.parse(json);
	const [choice] = isObject(answer) && Array.isArray(answer.choices) ? answer.choices : [];
	const content = isObject(choice) && isObject(choice.message) ? choice.message.content : undefined;
	if (typeof content !== "string") {
		throw new Error("no text in the response: expected choices[0].message.content");
	}
	return content;
}
