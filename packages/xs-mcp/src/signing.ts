import { createHash, createPrivateKey, createPublicKey, createSign, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { isVersion } from "xs-mcp-firmware/core/text/version";
import { attempt, makeProgram, ProgramError } from "./build/program.js";

/**
 * Makes a private key of P-256, as PEM.
 *
 * @internal
 */
export function makeKey(): string {
	const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
	return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/**
 * The public key as in the setting `updateKey`: an uncompressed point, in hexadecimal digits.
 *
 * @param privateKey PEM
 * @throws Error if it is not a private key of P-256
 * @internal
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
 *
 * @internal
 */
export function signImage(image: Uint8Array, version: string, privateKey: string): string {
	updateKeyOf(privateKey);
	const digest = createHash("sha256").update(image).digest();
	return createSign("sha256")
		.update(digest)
		.update(version)
		.sign({ key: privateKey, dsaEncoding: "ieee-p1363" }, "hex");
}

/** `xs-mcp sign`: creates signing keys, and signs firmware. */
export function signProgram(): Command {
	const program = makeProgram("xs-mcp sign", "Signs firmware for devices that are built with a public key.");
	program
		.command("key <file>")
		.description("create a private key in a new file, and print the public key for the setting updateKey")
		.action((file: string) => {
			const key = makeKey();
			attempt(file, () => writeFileSync(file, key, { mode: 0o600, flag: "wx" }));
			console.log(`updateKey=${updateKeyOf(key)}`);
		});
	program
		.command("image <files...>")
		.description("sign images: writes the signature of FILE to FILE.sig")
		.requiredOption("--key <file>", "the private key")
		.requiredOption("--version <version>", "the version that the images are, which the signature covers")
		.action((files: string[], { key: keyFile, version }: { key: string; version: string }) => {
			if (!isVersion(version)) {
				throw new ProgramError(`--version: expected numbers with dots such as 1.2.0, got ${JSON.stringify(version)}`);
			}
			const key = attempt(keyFile, () => readFileSync(keyFile, "utf8"));
			attempt(keyFile, () => updateKeyOf(key));
			for (const file of files) {
				const signature = attempt(file, () => signImage(readFileSync(file), version, key));
				attempt(`${file}.sig`, () => writeFileSync(`${file}.sig`, `${signature}\n`));
				console.log(`${file}.sig`);
			}
		});
	return program;
}
