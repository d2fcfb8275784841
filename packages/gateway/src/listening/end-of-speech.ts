/** Hertz of the samples. */
export const LISTENING_RATE = 16_000;

/** Milliseconds and samples of a frame, whose loudness is measured. */
const FRAME_TIME = 20;
const FRAME = (LISTENING_RATE * FRAME_TIME) / 1_000;

/** Frames of the last seconds among which the noise is looked for, and the share of them that it is at least. */
const NOISE_FRAMES = 5_000 / FRAME_TIME;
const NOISE_SHARE = 0.1;

/** Decibels above the noise from which a sound is speech. */
const MARGIN = 9;

/** Decibels below full scale: the least noise of a microphone; and the level below which it has not started. */
const LEAST_NOISE = -65;
const NO_SOUND = -90;

/** Frames of speech that are more than a click, and of silence that are more than a pause between words. */
const SPEECH_FRAMES = 200 / FRAME_TIME;
const SILENT_FRAMES = 900 / FRAME_TIME;

/** Loud frames that silence may have. */
const CLICKS = 2;

/** Range of voices in hertz; other frequencies count less. */
const LOW = 200;
const HIGH = 1_500;

/** How far a filter of the first order follows its input with each sample. */
const STEP = { low: stepAt(LOW), high: stepAt(HIGH) };

/**
 * Finds the end of speech by its loudness above the noise level: the quietest tenth of the last five seconds.
 * A noise that starts during the recording counts as speech for at most five seconds.
 */
export class EndOfSpeech {
	hasSpeech = false;
	/** Decibels below full scale, for each frame since the beginning. */
	readonly #levels: number[] = [];
	#sum = 0;
	#count = 0;
	/** Below {@link LOW}, of the samples and of what is left without it; and below {@link HIGH} of the rest. */
	readonly #below = [0, 0, 0] as [number, number, number];

	/** Takes the next samples: 16 kHz, 16 bits. */
	add(samples: Int16Array): void {
		for (const sample of samples) {
			this.#sum += this.#filter(sample) ** 2;
			this.#count += 1;
			if (this.#count === FRAME) {
				this.#levels.push(10 * Math.log10(this.#sum / FRAME / 32_768 ** 2 + 1e-12));
				this.#sum = 0;
				this.#count = 0;
				this.hasSpeech ||= this.#loudIn(this.#levels) >= SPEECH_FRAMES;
			}
		}
	}

	/** Whether there was speech, and it has ended. */
	get hasEnded(): boolean {
		const last = this.#levels.slice(-SILENT_FRAMES);
		return this.hasSpeech && last.length === SILENT_FRAMES && this.#loudIn(last) <= CLICKS;
	}

	#filter(sample: number): number {
		const below = this.#below;
		below[0] += STEP.low * (sample - below[0]);
		below[1] += STEP.low * (sample - below[0] - below[1]);
		below[2] += STEP.high * (sample - below[0] - below[1] - below[2]);
		return below[2];
	}

	#loudIn(levels: readonly number[]): number {
		const limit = this.#noise + MARGIN;
		return levels.filter((level) => level > limit).length;
	}

	get #noise(): number {
		const recent = this.#levels
			.slice(-NOISE_FRAMES)
			.filter((level) => level > NO_SOUND)
			.sort((a, b) => a - b);
		return Math.max(LEAST_NOISE, recent[Math.floor(recent.length * NOISE_SHARE)] ?? LEAST_NOISE);
	}
}

function stepAt(frequency: number): number {
	return 1 - Math.exp((-2 * Math.PI * frequency) / LISTENING_RATE);
}
