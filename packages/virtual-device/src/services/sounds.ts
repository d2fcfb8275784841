import { encodeWav } from "xs-mcp-gateway/wav";
import type { Environment } from "../environment.js";
import type { Open } from "./service.js";

/**
 * The current output of a virtual device's speaker: samples of 16 bits, low byte first, one channel, as loud as they
 * are heard.
 */
export interface PlayedSamples {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

/** Interval in milliseconds at which the audio out asks for samples, and the microphone provides some. */
export const PERIOD = 20;

/** Missed ticks to catch up on when the process was busy. More are skipped. */
const MAX_LATE = 50;

/**
 * Calls back once for each period that has passed, and catches up after a late timer.
 *
 * @param period milliseconds
 * @returns a function that stops it
 */
export function repeat(period: number, onTick: () => void): () => void {
	let last = performance.now();
	const timer = setInterval(() => {
		const now = performance.now();
		last = Math.max(last, now - MAX_LATE * period);
		while (now - last >= period) {
			last += period;
			onTick();
		}
	}, period);
	return () => clearInterval(timer);
}

/** Plays for the firmware, in real time: samples that it does not send in time are silence, as on a board. */
export const playSounds =
	({ events }: Environment): Open =>
	(args, tell) => {
		const [sampleRate] = args as [number];
		const bytes = 2 * Math.round((sampleRate * PERIOD) / 1_000);
		const destroy = repeat(PERIOD, () => tell("writable", [bytes]));
		return {
			write([volume], samples) {
				events.emit("samples", { sampleRate, samples: scaled(samples, volume as number) });
			},
			close() {
				destroy();
				events.emit("silence");
			},
			destroy,
		};
	};

/** @param volume 0 to 1 */
function scaled(bytes: Uint8Array, volume: number): Buffer {
	const samples = Buffer.from(bytes);
	for (let at = 0; at + 1 < samples.byteLength; at += 2) {
		samples.writeInt16LE(Math.round(samples.readInt16LE(at) * volume), at);
	}
	return samples;
}

/** Longest sound that is kept: 60 s at 24 kHz. A longer one is cut into several. */
const MAX_BYTES = 60 * 24_000 * 2;

/**
 * Assembles the sounds that a device plays.
 *
 * @param onSound called with one WAV file for each sound
 */
export function recordSounds(onSound: (wav: Buffer) => void) {
	let played = { sampleRate: 0, pieces: [] as Buffer[], bytes: 0 };
	const end = (): void => {
		const { sampleRate, pieces, bytes } = played;
		if (bytes > 0) {
			onSound(encodeWav({ sampleRate, samples: Buffer.concat(pieces) }));
		}
		played = { sampleRate, pieces: [], bytes: 0 };
	};
	return {
		add({ sampleRate, samples }: PlayedSamples): void {
			if (sampleRate !== played.sampleRate || played.bytes + samples.byteLength > MAX_BYTES) {
				end();
				played.sampleRate = sampleRate;
			}
			played.pieces.push(samples);
			played.bytes += samples.byteLength;
		},
		end,
	};
}
