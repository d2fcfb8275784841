import type { EventEmitter } from "node:events";
import type { ChipAddress, ChipValues } from "../platform/io/bus.js";
import type { DeviceEvents } from "./device-events.js";
import { Microphone } from "./services/microphone.js";
import { NetworkFaults } from "./services/network-faults.js";
import { SettingsStore } from "./services/settings.js";
import type { Surroundings } from "./services/simulated-board.js";
import { VirtualFlash } from "./virtual-flash.js";

/** dBm */
const GOOD_SIGNAL = -52;

/** State of a device and its surroundings that restarts do not change. */
export class Environment {
	readonly events: EventEmitter<DeviceEvents>;
	readonly settings: SettingsStore;
	readonly flash: VirtualFlash;
	readonly faults = new NetworkFaults((message) => this.events.emit("message", message));
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

	/** @throws Error if the settings file exists and cannot be read */
	constructor(events: EventEmitter<DeviceEvents>, firmware: string, settingsFile: string | undefined) {
		this.events = events;
		this.settings = new SettingsStore(settingsFile);
		this.flash = new VirtualFlash(firmware);
	}
}
