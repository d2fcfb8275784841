import { randomInt } from "node:crypto";
import { digest, isMade, type Store } from "xs-mcp-manager/core";
import * as z from "zod";

/** Milliseconds for which a code is valid. */
const LIFETIME = 600_000;

/** Characters of a code, without those that look alike. Eight of them have 40 bits. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Store key of the newest code. */
const KEY = "sign-in-code";

/** A code, as it is stored. `expires`: in milliseconds since 1970. */
const CODE = z.object({ sha256: z.string(), expires: z.number() });

/** Makes the code that approves one sign-in within ten minutes: `ABCD-EFGH`. It replaces the one before. */
export async function makeSignInCode(store: Store): Promise<string> {
	const digits = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
	const code: z.infer<typeof CODE> = { sha256: digest(digits), expires: store.now + LIFETIME };
	await store.update(KEY, () => code);
	return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** Whether a person has entered the code that was made last, in time. It is valid once. Rejects with StoreError. */
export async function takeSignInCode(store: Store, entered: string): Promise<boolean> {
	store.refresh(KEY);
	const entry = store.get(KEY);
	const code = CODE.safeParse(entry?.value).data;
	const sha256 = digest(entered.replace(/[\s-]/g, "").toUpperCase());
	const isValid = code !== undefined && code.expires > store.now && code.sha256 === sha256;
	return isValid && (await isMade(store.delete(KEY, entry?.revision)));
}

/** Whether a person has entered a code, rather than a token. */
export function looksLikeCode(entered: string): boolean {
	return /^[\s-]*(?:[2-9A-HJ-NP-Z][\s-]*){8}$/i.test(entered);
}
