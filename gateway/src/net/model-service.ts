import { collect } from "./run-program.js";

/** A service with an API as OpenAI's. */
export interface SpeechService {
	/** The base URL: `https://HOST/v1`. */
	readonly url: string;
	readonly model: string;
	readonly key?: string | undefined;
}

interface PostOptions {
	readonly path: string;
	/** JSON, or a form. */
	readonly body: string | FormData;
	readonly signal: AbortSignal;
	/** Names the answer in an error. */
	readonly what: string;
	readonly maxBytes: number;
}

/** Posts to a service. Resolves with its answer. Rejects with an Error that gives the reason, without the key. */
export async function post(
	{ url, key }: SpeechService,
	{ path, body, signal, what, maxBytes }: PostOptions,
): Promise<Buffer> {
	const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
		method: "POST",
		headers: {
			...(typeof body === "string" && { "Content-Type": "application/json" }),
			...(key !== undefined && { Authorization: `Bearer ${key}` }),
		},
		body,
		redirect: "error",
		signal,
	});
	if (!response.ok) {
		await response.body?.cancel();
		throw new Error(`HTTP status ${response.status}`);
	}
	return await collect(response.body ?? [], what, maxBytes);
}
