import { createHash, createPrivateKey, createPublicKey, createSign, generateKeyPairSync } from "node:crypto";

/** Makes a private key of P-256, as PEM. */
export function makeKey(): string {
	const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
	return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/**
 * The public key as in the setting `updateKey`: an uncompressed point, in hexadecimal digits.
 *
 * @param privateKey PEM
 * @throws Error if it is not a private key of P-256
 */
export function updateKeyOf(privateKey: string): string {
	const { crv, x = "", y = "" } = createPublicKey(createPrivateKey(privateKey)).export({ format: "jwk" });
	if (crv !== "P-256") {
		throw new Error(`expected a key of the curve P-256, got ${crv ?? "another kind of key"}`);
	}
	return `04${Buffer.from(x, "base64url").toString("hex")}${Buffer.from(y, "base64url").toString("hex")}`;
}

/**
 * Signs an image as a version: r and s, in hexadecimal digits. The signed data is the image's SHA-256 followed by the
 * version, so that an old image cannot be offered as a newer one.
 */
export function signImage(image: Uint8Array, version: string, privateKey: string): string {
	updateKeyOf(privateKey);
	const digest = createHash("sha256").update(image).digest();
	return createSign("sha256")
		.update(digest)
		.update(version)
		.sign({ key: privateKey, dsaEncoding: "ieee-p1363" }, "hex");
}
