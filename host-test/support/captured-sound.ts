import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./testing.js";

/**
 * Makes a home folder whose ALSA has no sound card, but writes the sound that is played last to a file. It reads samples as
 * fast as they are written, and silence when no samples are available. Its microphone is a pipe.
 */
export function captureSound(t: TestContext): { readonly played: string; readonly microphone: string } {
	const home = temporaryFolder("xs-mcp-sound-");
	const played = join(home, "played.raw");
	const microphone = join(home, "microphone.raw");
	execFileSync("mkfifo", [microphone]);
	const file = (name: string, input = ""): string =>
		`{ type file; slave.pcm "null"; file "${name}"; ${input} format raw }`;
	const capture = file("/dev/null", `infile "${microphone}";`);
	const settings = `pcm.!default { type asym; playback.pcm ${file(played)}; capture.pcm ${capture} }\n`;
	writeFileSync(join(home, ".asoundrc"), settings);
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
	return { played, microphone };
}

export function samplesIn(file: string): Int16Array {
	const bytes = readFileSync(file);
	return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
}
