import { execFileSync } from "node:child_process";
import { readWav, resample } from "xs-mcp-gateway/wav";

export function speak(text: string, voice = "en"): Buffer {
	return execFileSync("espeak-ng", ["--stdout", "-v", voice, text], { maxBuffer: 2 ** 24 });
}

export function samplesOf(wav: Buffer, rate: number): Int16Array {
	const { sampleRate, samples } = readWav(wav);
	return resample(new Int16Array(Uint8Array.from(samples).buffer), sampleRate, rate);
}
