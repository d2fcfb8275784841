import { execFileSync } from "node:child_process";
import { readWav } from "../../gateway/src/speech/wav.js";

/** A sentence as espeak-ng speaks it. */
export function speak(text: string): { readonly sampleRate: number; readonly samples: Int16Array } {
	const wav = execFileSync("espeak-ng", ["--stdout", text], { maxBuffer: 2 ** 24 });
	const { sampleRate, samples } = readWav(wav);
	return { sampleRate, samples: new Int16Array(Uint8Array.from(samples).buffer) };
}
