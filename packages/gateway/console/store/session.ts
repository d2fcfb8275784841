import { signal } from "@preact/signals";
import { tryParseJson } from "xs-mcp-firmware/core/text/json";
import type { ConsoleSessionInfo } from "../../src/console/console-routes.js";

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

/** The signed-in session; undefined until the gateway has sent it, and while signed out. */
export const session = signal<ConsoleSessionInfo | undefined>(undefined);

/** "expired": the sign-in has ended. "token-needed": the page was open without a token, which it now needs. */
export const phase = signal<"opening" | "signed-out" | "expired" | "token-needed" | "open">("opening");

/** Asks one of the gateway's routes. Rejects with ApiError. @param json sent as the body */
export async function ask<T = undefined>(path: string, method = "GET", json?: object): Promise<T> {
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
		if (phase.value === "open") {
			phase.value = session.value?.signedIn ? "expired" : "token-needed";
		} else if (phase.value === "opening") {
			phase.value = "signed-out";
		}
		session.value = undefined;
	}
	const text = await response.text();
	if (!response.ok) {
		const body = tryParseJson(text) as { readonly error?: { readonly message?: string } } | undefined;
		throw new ApiError(response.status, body?.error?.message ?? `${response.status} ${response.statusText}`, body);
	}
	return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** The path of a device's routes. @param name alias or id */
export function pathOf(name: string): string {
	return `devices/${encodeURIComponent(name)}`;
}

/** Asks who is signed in. Resolves with whether anyone is. Rejects with ApiError if the gateway cannot be reached. */
export async function checkSession(): Promise<boolean> {
	try {
		session.value = await ask("console/session");
		phase.value = "open";
		return true;
	} catch (error) {
		if (error instanceof ApiError && error.status === 401) {
			return false;
		}
		throw error;
	}
}

/** Rejects with ApiError: 401 for a wrong token. */
export async function signIn(token: string): Promise<void> {
	await ask("console/session", "POST", { token });
	await checkSession();
}

export async function signOut(): Promise<void> {
	await ask("console/session", "DELETE");
	session.value = undefined;
	phase.value = "signed-out";
}
