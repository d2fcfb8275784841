import type { BoardProfile } from "./boards.js";
import type { NetworkConditions } from "./services/network-faults.js";
import type { ChipState, PinState } from "./services/pins.js";
import type { LightState } from "./services/simulated-board.js";

/** The device as its page shows it. */
export interface ShownDevice {
	readonly type: "device";
	/** Empty without one. */
	readonly name: string;
	readonly macAddress: string;
	readonly engine: string;
	readonly board: BoardProfile;
	readonly isRunning: boolean;
	readonly network: NetworkConditions;
	/** dBm */
	readonly signal: number;
	readonly battery: { readonly level: number; readonly charging: boolean };
	/** The values that were set, by sensor. */
	readonly readings: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
	readonly lights: Readonly<Record<string, LightState>>;
	/** Degrees, by servo. */
	readonly servos: Readonly<Record<string, number>>;
	/** The pins that the firmware has opened, by their numbers. */
	readonly pins: readonly PinState[];
	/** On its bus, by address. */
	readonly chips: readonly ChipState[];
	/** URL of its gateway's console, if that runs on this computer. */
	readonly consoleUrl?: string;
}

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

/** A failed action of the page. */
export interface Failure {
	readonly type: "failure";
	readonly message: string;
}

/** Messages to the page, as JSON. */
export type ToPage = ShownDevice | TraceLine | Failure;

/**
 * Messages of the page, as JSON: see {@link readAction}. A binary one is the camera's new JPEG picture, or
 * has the prefix {@link MICROPHONE}.
 */
export interface FromPage {
	readonly action: string;
	readonly value?: unknown;
}

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

/** Bytes of a message with pixels, before these. */
export const PIXELS_HEAD_BYTES = 10;

/** The same of a message with samples. */
export const SAMPLES_HEAD_BYTES = 8;
