/** A service with an API as OpenAI's. */
export interface ModelService {
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
	{ url, key }: ModelService,
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

/** Rejects with an Error if there are more bytes: `the sound is too long (limit 16777216 bytes)`. */
export async function collect(
	pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
	what: string,
	maxBytes: number,
): Promise<Buffer> {
	const kept: Uint8Array[] = [];
	let bytes = 0;
	for await (const piece of pieces) {
		bytes += piece.length;
		if (bytes > maxBytes) {
			throw new Error(`${what} is too long (limit ${maxBytes} bytes)`);
		}
		kept.push(piece);
	}
	return Buffer.concat(kept);
}
