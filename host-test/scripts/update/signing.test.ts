import assert from "node:assert/strict";
import { createHash, createPublicKey, createVerify, generateKeyPairSync } from "node:crypto";
import { it } from "node:test";
import { makeKey, signImage, updateKeyOf } from "../../../scripts/update/signing.js";

it("an image is signed as a version, with ECDSA over P-256 and SHA-256 of the image's digest and the version", () => {
	const key = makeKey();
	const image = Buffer.from("an image");
	const signature = Buffer.from(signImage(image, "1.2.0", key), "hex");
	assert.equal(signature.byteLength, 64);
	const verifies = (bytes: Buffer, version: string): boolean =>
		createVerify("sha256")
			.update(createHash("sha256").update(bytes).digest())
			.update(version)
			.verify({ key: createPublicKey(key), dsaEncoding: "ieee-p1363" }, signature);
	const other = Buffer.from("another");
	assert.deepEqual(
		[verifies(image, "1.2.0"), verifies(image, "9.9.9"), verifies(other, "1.2.0")],
		[true, false, false],
	);
});

it("the public key is an uncompressed point", () => {
	assert.match(updateKeyOf(makeKey()), /^04[0-9a-f]{128}$/);
});

it("a key of another kind is rejected", () => {
	const options = { publicKeyEncoding: { type: "spki", format: "pem" } } as const;
	const privateKeyEncoding = { type: "pkcs8", format: "pem" } as const;
	const p384 = generateKeyPairSync("ec", { namedCurve: "P-384", ...options, privateKeyEncoding }).privateKey;
	const ed25519 = generateKeyPairSync("ed25519", { ...options, privateKeyEncoding }).privateKey;
	for (const key of [p384, ed25519]) {
		assert.throws(() => signImage(Buffer.from("x"), "1.0.0", key), /expected a key of the curve P-256/);
	}
});
