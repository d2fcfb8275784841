import type { describeDevice } from "./device-page.js";

/** The device as its page shows it. */
export type ShownDevice = ReturnType<typeof describeDevice>;

/** A line of the trace: a message of the device or its backend, a line of the device's log, or what a user would notice. */
export interface TraceLine {
	readonly type: "trace";
	/** Ascending. */
	readonly id: number;
	/** Milliseconds since 1970. */
	readonly time: number;
	readonly kind: "device" | "backend" | "log" | "note";
	readonly text: string;
	/** Transport of a message, and whether it was silenced. */
	readonly remark?: string;
}

/** Messages to the page, as JSON. A failure is the error of an action that the page asked for. */
export type ToPage = ShownDevice | TraceLine | { readonly type: "failure"; readonly message: string };

/**
 * First two bytes of a microphone recording. Samples follow: 16 kHz, 16 bits, low byte first. No samples: the microphone
 * was switched off.
 */
export const MICROPHONE = [1, 0] as const;

/** The first byte of a binary message to the page. */
export const BINARY = {
	/** A byte, x, y, width and height as big-endian 16-bit numbers follow, then RGBA, row by row. */
	pixels: 1,
	/** A WAV file follows: what the device has played. */
	sound: 2,
	/** A JPEG or PNG file follows: the screen shows it. */
	picture: 3,
	/** Three bytes and the rate (Hertz, 32 bits) follow, then samples that the device plays now: 16 bits, low byte first. */
	samples: 4,
} as const;

/** Bytes before the pixels of a message. */
export const PIXELS_HEAD_BYTES = 10;

/** Bytes before the samples of a message. */
export const SAMPLES_HEAD_BYTES = 8;
