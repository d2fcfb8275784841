import { createHash } from "node:crypto";

/** The SHA-256 of a secret that has enough random bits, hex: what is kept of it. */
export function digest(secret: string): string {
	return createHash("sha256").update(secret).digest("hex");
}
