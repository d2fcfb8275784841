import { signal } from "@preact/signals";
import { SAMPLES_HEAD_BYTES } from "../src/page-messages.js";

/** Seconds of buffering before playback starts, so that late samples leave no gap. */
const LEAD = 0.12;

/** Most seconds of sound that wait for a browser that is slow to begin. */
const MAX_WAITING = 10;

/** Whether a sound comes that the browser does not play: until a person has clicked, pages are silent. */
export const isSilenced = signal(false);

let context: AudioContext | undefined;
/** When the samples so far end, on the context's clock. */
let end = 0;

/** Plays samples after those before them. The message is one of BINARY.samples. */
export function play(message: ArrayBuffer): void {
	const rate = new DataView(message).getUint32(4, true);
	const samples = new Int16Array(message, SAMPLES_HEAD_BYTES);
	const { currentTime, state } = contextFor(rate);
	const isRunning = state === "running";
	isSilenced.value = !isRunning && !navigator.userActivation.hasBeenActive;
	if (isSilenced.value || context === undefined || samples.length === 0) {
		return;
	}
	if (!isRunning) {
		// It takes a moment, on a busy computer a second: until then its clock stands still, and nothing is lost.
		void context.resume();
		if (end > currentTime + MAX_WAITING) {
			return;
		}
	}
	const buffer = context.createBuffer(1, samples.length, rate);
	buffer.copyToChannel(
		Float32Array.from(samples, (sample) => sample / 0x8000),
		0,
	);
	const source = context.createBufferSource();
	source.buffer = buffer;
	source.connect(context.destination);
	const start = end > currentTime ? end : currentTime + LEAD;
	source.start(start);
	end = start + samples.length / rate;
}

/** Lets sounds be heard. To be called as a person clicks. */
export function unsilence(): void {
	void context?.resume().then(() => {
		isSilenced.value = false;
	});
}

/** Returns an audio context with the samples' rate, so that nothing is resampled. */
function contextFor(rate: number): AudioContext {
	if (context?.sampleRate !== rate) {
		void context?.close();
		context = new AudioContext({ sampleRate: rate });
		end = 0;
	}
	return context;
}
