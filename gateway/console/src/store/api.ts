/** The gateway answered a request with an error, or not at all (status 0). */
export class ApiError extends Error {
	readonly status: number;

	constructor(status: number, message: string) {
		super(message);
		this.name = "ApiError";
		this.status = status;
	}
}

interface AskOptions {
	readonly method?: string;
	/** Sent as the body. */
	readonly json?: object;
}

/** What is called when the gateway says that nobody is signed in any more. */
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
		throw new ApiError(response.status, reasonIn(text) ?? `${response.status} ${response.statusText}`);
	}
	return (text === "" ? undefined : JSON.parse(text)) as T;
}

function reasonIn(text: string): string | undefined {
	try {
		return (JSON.parse(text) as { error?: { message?: string } }).error?.message;
	} catch {
		return undefined;
	}
}
