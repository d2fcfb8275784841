/** The gateway answered a request with an error, or not at all (status 0). */
export class ApiError extends Error {
	readonly status: number;
	/** The JSON of the answer; undefined if it had none. */
	readonly body: unknown;

	constructor(status: number, message: string, body?: unknown) {
		super(message);
		this.name = "ApiError";
		this.status = status;
		this.body = body;
	}
}

interface AskOptions {
	readonly method?: string;
	/** Sent as the body. */
	readonly json?: object;
}

/** Called when the gateway says that the sign-in has ended. */
let onSignedOut: () => void = () => {};

export function whenSignedOut(react: () => void): void {
	onSignedOut = react;
}

/** Asks one of the gateway's routes. Rejects with ApiError. */
export async function ask<T = undefined>(path: string, { method = "GET", json }: AskOptions = {}): Promise<T> {
	let response: Response;
	try {
		response = await fetch(path, {
			method,
			...(json !== undefined && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) }),
		});
	} catch (error) {
		throw new ApiError(0, (error as Error).message);
	}
	if (response.status === 401) {
		onSignedOut();
	}
	const text = await response.text();
	if (!response.ok) {
		const body = jsonIn(text);
		throw new ApiError(response.status, body?.error?.message ?? `${response.status} ${response.statusText}`, body);
	}
	return (text === "" ? undefined : JSON.parse(text)) as T;
}

function jsonIn(text: string): { readonly error?: { readonly message?: string } } | undefined {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
