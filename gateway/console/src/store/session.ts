import { signal } from "@preact/signals";
import type { ConsoleSessionInfo } from "../../../src/console/messages.js";
import { ApiError, ask, whenSignedOut } from "./api.js";

/** The signed-in session; undefined until the gateway has sent it, and while signed out. */
export const session = signal<ConsoleSessionInfo | undefined>(undefined);

/** "expired": the sign-in has ended. "token-needed": the page was open without a token, which it now needs. */
export const phase = signal<"opening" | "signed-out" | "expired" | "token-needed" | "open">("opening");

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
	await ask("console/session", { method: "POST", json: { token } });
	await checkSession();
}

export async function signOut(): Promise<void> {
	await ask("console/session", { method: "DELETE" });
	session.value = undefined;
	phase.value = "signed-out";
}

whenSignedOut(() => {
	if (phase.value === "open") {
		phase.value = session.value?.signedIn ? "expired" : "token-needed";
	} else if (phase.value === "opening") {
		phase.value = "signed-out";
	}
	session.value = undefined;
});
