import { signal } from "@preact/signals";
import { SAMPLES_HEAD_BYTES } from "../src/page-messages.js";

/** Seconds of buffering before playback starts, so that late samples leave no gap. */
const LEAD = 0.12;

/** Maximum seconds of queued sound while the browser has not started playback. */
const MAX_WAITING = 10;

/** Whether the browser holds back a sound: pages are silent until a person has clicked. */
export const isSilenced = signal(false);

let context: AudioContext | undefined;
/** End of the samples that are scheduled so far, on the context's clock. */
let end = 0;

/** Plays samples after those that are already scheduled. The message is of the kind BINARY.samples. */
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
		// This may take a second on a busy computer. Until then the context's clock stands still, and nothing is lost.
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

/** Starts playback. Must be called during a click. */
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
