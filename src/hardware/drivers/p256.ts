/// <reference path="../../types/ecdsa.d.ts" />
import Curve from "curve";
import ECDSA from "ecdsa";
import ECPoint from "ecp";
import { toHex } from "../../core/text/hex.js";

/** Bytes of a coordinate, of r and of s. */
const SIZE = 32;

/**
 * Verifies a signature over a SHA-256 digest: ECDSA over P-256, by the SDK. Takes a chip up to a second.
 *
 * @param key an uncompressed point: 65 bytes
 * @param signature r and s
 */
export const verifyP256 = (key: ArrayBuffer, digest: ArrayBuffer, signature: ArrayBuffer): boolean => {
	const curve = new Curve("secp256r1");
	const r = integer(signature.slice(0, SIZE));
	const s = integer(signature.slice(SIZE));
	// The SDK does not check this: FIPS 186-5, 6.4.2, step 1.
	if (r === 0n || s === 0n || r >= curve.n || s >= curve.n) {
		return false;
	}
	const point = new ECPoint(integer(key.slice(1, 1 + SIZE)), integer(key.slice(1 + SIZE)));
	return new ECDSA(point, curve).verify(digest, signature);
};

const integer = (bytes: ArrayBuffer): bigint => BigInt(`0x${toHex(bytes)}`);
