import { createHash } from "node:crypto";

/** The SHA-256 of a secret, in hex. Not a slow hash: the secrets have enough random bits. */
export function digest(secret: string): string {
	return createHash("sha256").update(secret).digest("hex");
}
