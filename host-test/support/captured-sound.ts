import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./temporary-folder.js";

/**
 * Makes a home folder whose ALSA has no sound card, but writes the sound that is played last to a file. It reads samples as
 * fast as they are written, and silence when no samples are available.
 *
 * @returns the file
 */
export function captureSound(t: TestContext): string {
	const home = temporaryFolder("xs-mcp-sound-");
	const file = join(home, "played.raw");
	const output = `pcm.!default { type file; slave.pcm "null"; file "${file}"; format raw }\n`;
	writeFileSync(join(home, ".asoundrc"), output);
	const { HOME, XDG_CONFIG_HOME } = process.env;
	Object.assign(process.env, { HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
	t.after(() => {
		Object.assign(process.env, { HOME });
		if (XDG_CONFIG_HOME === undefined) {
			delete process.env.XDG_CONFIG_HOME;
		} else {
			Object.assign(process.env, { XDG_CONFIG_HOME });
		}
		rmSync(home, { recursive: true });
	});
	return file;
}

/** The samples in a file. */
export function samplesIn(file: string): Int16Array {
	const bytes = readFileSync(file);
	return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
}
