import { toHex } from "src/core/text/hex";
import { call } from "./bridge.js";

/** HMAC-SHA256 (RFC 2104), by Node. */
export async function hmacSha256(key: ArrayBuffer, message: ArrayBuffer): Promise<ArrayBuffer> {
	return (await call("hmacSha256", toHex(key), message)).bytes;
}
