import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../host-test/support/testing.js";

/** Writes its command line and port to the file `ran`. */
const RECORDER = `#!/bin/sh\necho "$(basename "$0") $* at $UPLOAD_PORT" >> "$MODDABLE/ran"\n`;

/**
 * Makes the folders of an SDK that the wrappers check, and that are also an ESP-IDF. Its mcconfig and esptool record
 * how they are run.
 *
 * @param more commands that its mcconfig also runs
 * @param targets names of its targets, for an ESP32-S3 unless they are chips without Wi-Fi
 */
export function makeSdk(more = "", targets = ["esp32s3", "m5stack_cores3", "qtpys3_cdc", "esp32h2", "esp32p4"]) {
	const root = temporaryFolder("xs-mcp-sdk-");
	for (const target of targets) {
		const folder = join(root, "build", "devices", "esp32", "targets", target);
		mkdirSync(folder, { recursive: true });
		const chip = /^esp32(h2|p4)$/.test(target) ? target : "esp32s3";
		writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { ESP32_SUBCLASS: chip } }));
	}
	for (const host of ["lin", "mac"]) {
		const bin = join(root, "build", "bin", host, "release");
		mkdirSync(bin, { recursive: true });
		writeFileSync(join(bin, "mcconfig"), RECORDER + more, { mode: 0o755 });
		writeFileSync(join(bin, "esptool"), RECORDER, { mode: 0o755 });
	}
	const file = join(root, "ran");
	return {
		root,
		env: { ...process.env, MODDABLE: root, IDF_PATH: root },
		/** The command lines since the last call. */
		ran(): string[] {
			const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
			writeFileSync(file, "");
			return lines;
		},
	};
}
