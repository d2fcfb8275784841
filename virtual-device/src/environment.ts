import type { ChipAddress, ChipValues } from "../platform/io/bus.js";
import { Microphone } from "./services/microphone.js";
import type { Surroundings } from "./services/simulated-board.js";

/** dBm */
const GOOD_SIGNAL = -52;

/** The surroundings of a device, as they were set: restarts change none of them. */
export class Environment {
	/** By sensors' names, "battery", "network" and "microphone". */
	readonly surroundings = new Map<string, Surroundings>();
	/** The levels of input pins, by number. */
	readonly levels = new Map<number, number | string>();
	/** Values of chips and sensors that were set, by address. */
	readonly measured = new Map<ChipAddress, ChipValues>();
	readonly microphone = new Microphone();
	/** Strength of the Wi-Fi's signal, dBm. */
	signal = GOOD_SIGNAL;
	/** The camera's picture, a JPEG file; undefined: a drawn room. */
	photo: Uint8Array | undefined;
	/** Of a page that shows the device. */
	pageUrl: string | undefined;

	constructor(photo: Uint8Array | undefined) {
		this.photo = photo;
	}
}
