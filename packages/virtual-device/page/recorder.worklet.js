// Sends samples of the microphone to the page, 60 ms at a time. It runs in the browser's audio thread.

/** Samples of 60 ms. */
const FRAME = 960;

class Recorder extends AudioWorkletProcessor {
	#frame = new Int16Array(FRAME);
	#filled = 0;

	process([[samples = []]]) {
		for (const sample of samples) {
			this.#frame[this.#filled] = Math.max(-1, Math.min(1, sample)) * 0x7fff;
			this.#filled += 1;
			if (this.#filled === FRAME) {
				this.port.postMessage(this.#frame.slice());
				this.#filled = 0;
			}
		}
		return true;
	}
}

registerProcessor("recorder", Recorder);
