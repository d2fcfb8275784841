import { call } from "./bridge.js";

/** HMAC-SHA256 (RFC 2104), by Node. */
export async function hmacSha256(key: ArrayBuffer, message: ArrayBuffer): Promise<ArrayBuffer> {
	const digits = Array.from(new Uint8Array(key), (byte) => byte.toString(16).padStart(2, "0"));
	return (await call("hmacSha256", digits.join(""), message)).bytes;
}
