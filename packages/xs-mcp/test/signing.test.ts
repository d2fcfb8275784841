import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { it } from "node:test";
import { signImage } from "../src/signing.js";

it("a key of another kind than P-256 signs no image", () => {
	const options = { publicKeyEncoding: { type: "spki", format: "pem" } } as const;
	const privateKeyEncoding = { type: "pkcs8", format: "pem" } as const;
	const p384 = generateKeyPairSync("ec", { namedCurve: "P-384", ...options, privateKeyEncoding }).privateKey;
	const ed25519 = generateKeyPairSync("ed25519", { ...options, privateKeyEncoding }).privateKey;
	for (const key of [p384, ed25519]) {
		assert.throws(() => signImage(Buffer.from("x"), "1.0.0", key), /expected a key of the curve P-256/);
	}
});
