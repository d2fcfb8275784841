import { createHash, randomInt } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replaceFileSync } from "./atomic-file.js";

/** Milliseconds for which a code is valid. */
const LIFETIME = 600_000;

/** Without characters that look like others: 40 bits in eight of them. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

const codeFile = z.object({ version: z.literal(1), sha256: z.string(), expires: z.number() });

/** Makes the code that approves one sign-in within ten minutes: `ABCD-EFGH`. It replaces the one before. */
export function makeSignInCode(stateFolder: string): string {
	const digits = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
	const content = { version: 1, sha256: digest(digits), expires: Date.now() + LIFETIME };
	replaceFileSync(pathIn(stateFolder), `${JSON.stringify(content)}\n`);
	return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** Whether it is the code that was made last. It is valid once. */
export function takeSignInCode(stateFolder: string, code: string): boolean {
	try {
		const path = pathIn(stateFolder);
		const { sha256, expires } = codeFile.parse(JSON.parse(readFileSync(path, "utf8")));
		if (expires <= Date.now() || sha256 !== digest(code.replace(/[\s-]/g, "").toUpperCase())) {
			return false;
		}
		rmSync(path);
		return true;
	} catch {
		return false;
	}
}

function pathIn(stateFolder: string): string {
	return join(stateFolder, "sign-in-code.json");
}

function digest(code: string): string {
	return createHash("sha256").update(code).digest("hex");
}
