import { randomInt } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { replaceFileSync } from "./atomic-file.js";
import { digest } from "./digest.js";

/** Milliseconds for which a code is valid. */
const LIFETIME = 600_000;

/** Without characters that look like others: 40 bits in eight of them. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A code, as it is stored. `expires`: in milliseconds since 1970. */
export const signInCodeSchema = z.object({ sha256: z.string(), expires: z.number() });

export type SignInCode = Readonly<z.infer<typeof signInCodeSchema>>;

const codeFile = signInCodeSchema.extend({ version: z.literal(1) });

/** Where codes are valid: at one gateway, or at those of a cluster. */
export interface SignInCodes {
	/** Whether it is the code that was made last. It is valid once. Rejects with TokenError if that cannot be known now. */
	takeSignInCode(code: string): Promise<boolean>;
}

/** Makes the code that approves one sign-in within ten minutes: `ABCD-EFGH`. It replaces the one before. */
export function makeSignInCode(stateFolder: string): string {
	const digits = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
	const content = { version: 1, sha256: digest(digits), expires: Date.now() + LIFETIME };
	replaceFileSync(pathIn(stateFolder), `${JSON.stringify(content)}\n`);
	return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** The code of a gateway that is alone. */
export function ownSignInCode(stateFolder: string): SignInCodes {
	return {
		async takeSignInCode(code) {
			const isValid = matches(readSignInCode(stateFolder), code);
			if (isValid) {
				removeSignInCode(stateFolder);
			}
			return isValid;
		},
	};
}

/** The latest code; undefined if its file is missing or damaged. */
export function readSignInCode(stateFolder: string): SignInCode | undefined {
	try {
		return codeFile.parse(JSON.parse(readFileSync(pathIn(stateFolder), "utf8")));
	} catch {
		return undefined;
	}
}

export function removeSignInCode(stateFolder: string): void {
	rmSync(pathIn(stateFolder), { force: true });
}

/** Whether a person has entered this code, in time. */
export function matches(code: SignInCode | undefined, entered: string, now = Date.now()): boolean {
	return (
		code !== undefined && code.expires > now && code.sha256 === digest(entered.replace(/[\s-]/g, "").toUpperCase())
	);
}

/** Whether a person has entered a code, rather than a token. */
export function looksLikeCode(entered: string): boolean {
	return /^[\s-]*(?:[2-9A-HJ-NP-Z][\s-]*){8}$/i.test(entered);
}

function pathIn(stateFolder: string): string {
	return join(stateFolder, "sign-in-code.json");
}
