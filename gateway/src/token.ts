import { createHash, timingSafeEqual } from "node:crypto";

/** Compares secrets in a time that does not tell how much of them is right. */
export function isSameSecret(given: string, expected: string): boolean {
	return timingSafeEqual(digest(given), digest(expected));
}

function digest(secret: string): Buffer {
	return createHash("sha256").update(secret).digest();
}
