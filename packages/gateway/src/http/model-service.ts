/** A service with an API as OpenAI's. */
export interface ModelService {
	/** The base URL: `https://HOST/v1`. */
	readonly url: string;
	readonly model: string;
	readonly key?: string | undefined;
}

/**
 * Posts to a service. Resolves with its answer. Rejects with an Error that gives the reason, without the key.
 *
 * @param body JSON, or a form
 * @param limit names the answer in an error, and its largest size
 */
export async function post(
	{ url, key }: ModelService,
	path: string,
	body: string | FormData,
	signal: AbortSignal,
	limit: Limit,
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
	return await collect(response.body ?? [], limit);
}

/** A name for what is limited, and its largest size in bytes. */
export interface Limit {
	readonly what: string;
	readonly maxBytes: number;
}

/** Rejects with an Error if there are more bytes: `the sound is too long (limit 16777216 bytes)`. */
export async function collect(
	pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
	{ what, maxBytes }: Limit,
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
