import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { attempt, failAs, makeProgram } from "xs-mcp/build/program";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { bundle, encodeImage } from "./index.js";

/** `xs-mcp image`: makes a firmware image that a virtual device can update itself to. */
export const imageProgram = (): Command =>
	makeProgram(
		"xs-mcp image",
		"Makes a firmware image for virtual devices. The gateway offers virtual_VERSION.bin in its firmwareFolder.",
	)
		.argument("<file>", "output file")
		.requiredOption("--firmware-version <version>", "version of this firmware, such as 0.3.0")
		.option("--firmware <module>", "another firmware: the TypeScript module to start with (default: src/main.ts)")
		.action(async (file: string, { firmwareVersion, firmware }: { firmwareVersion: string; firmware?: string }) => {
			const script = await bundle(firmware && resolve(firmware), false, firmwareVersion).catch(failAs(file));
			const image = encodeImage(script, { ...FIRMWARE, version: firmwareVersion });
			attempt(file, () => writeFileSync(file, image));
			console.log(`${file}: ${image.byteLength} bytes, firmware ${firmwareVersion}`);
		});
