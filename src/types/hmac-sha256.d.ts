/** Computes HMAC-SHA256 (RFC 2104) with the host's code. */
export function hmacSha256(key: ArrayBuffer, message: ArrayBuffer): Promise<ArrayBuffer>;
