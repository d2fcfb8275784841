import { signal } from "@preact/signals";
import { MICROPHONE } from "../src/page-messages.js";
import { failure, sendBytes } from "./link.js";
import recorderUrl from "./recorder.worklet.js";

/** Sample rate of the device's microphone, in hertz. */
const RATE = 16_000;

/** Whether the person's microphone is the device's. */
export const isMicrophoneOn = signal(false);

let stop = (): void => {};

/** Switches the person's microphone on, with their consent, or off. */
export async function toggleMicrophone(): Promise<void> {
	if (isMicrophoneOn.value) {
		stop();
		return;
	}
	try {
		stop = await record();
		isMicrophoneOn.value = true;
	} catch (error) {
		failure.value = `microphone: ${(error as Error).message}`;
	}
}

/** Resolves with a function that ends it. Rejects if the person does not consent, or there is no microphone. */
async function record(): Promise<() => void> {
	// The device does not speak while it listens, so there is no echo, and a recognizer wants the sound as it is.
	const audio = { echoCancellation: false, noiseSuppression: false };
	const stream = await navigator.mediaDevices.getUserMedia({ audio });
	const context = new AudioContext({ sampleRate: RATE });
	const end = (): void => {
		for (const track of stream.getTracks()) {
			track.stop();
		}
		void context.close();
		isMicrophoneOn.value = false;
		sendBytes(Uint8Array.from(MICROPHONE));
	};
	try {
		await context.audioWorklet.addModule(recorderUrl);
		const recorder = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
		recorder.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) =>
			sendBytes(Uint8Array.of(...MICROPHONE, ...new Uint8Array(data.buffer)));
		context.createMediaStreamSource(stream).connect(recorder);
	} catch (error) {
		end();
		throw error;
	}
	// It was unplugged, or the person has withdrawn the consent.
	stream.getTracks()[0]?.addEventListener("ended", end);
	return end;
}
