// npm run sign: creates signing keys, and signs firmware.
import { readFileSync, writeFileSync } from "node:fs";
import { isVersion } from "../../../../src/core/text/version.js";
import { attempt, makeProgram, ProgramError, runProgram } from "../build/program.js";
import { makeKey, signImage, updateKeyOf } from "./signing.js";

const program = makeProgram("run sign", "Signs firmware for devices that are built with a public key.");

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

await runProgram(program);
