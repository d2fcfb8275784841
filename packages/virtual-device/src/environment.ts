import type { EventEmitter } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ChipAddress, ChipValues } from "../platform/io/bus.js";
import type { OwnPart } from "./boards.js";
import type { EngineExit } from "./engine/engine.js";
import type { ScreenPicture } from "./services/drawn-screen.js";
import { Microphone } from "./services/microphone.js";
import { makeNetworkFaults, type TracedMessage } from "./services/network-faults.js";
import type { PinState } from "./services/pins.js";
import { makeService, type Service } from "./services/service.js";
import type { LightState, Surroundings } from "./services/simulated-board.js";
import type { PlayedSamples } from "./services/sounds.js";
import { makeFlash, type VirtualFlash } from "./virtual-flash.js";

type Value = string | number | boolean;
type Domains = Record<string, Record<string, Value>>;

/** The firmware's settings, by domain and key. */
export interface SettingsStore extends Service {
	readonly domains: Readonly<Domains>;
}

/**
 * Stores the firmware's settings: in a file, or else in memory.
 *
 * @throws Error if the file exists and is not a JSON object of objects
 */
export function openSettings(file?: string): SettingsStore {
	const domains = file !== undefined && existsSync(file) ? readDomains(file) : {};
	/** Writes a temporary file first, so that a crash leaves the old settings or the new ones. */
	const save = (): void => {
		if (file !== undefined) {
			mkdirSync(dirname(file), { recursive: true });
			const temporary = `${file}.${process.pid}`;
			writeFileSync(temporary, `${JSON.stringify(domains, null, "\t")}\n`);
			renameSync(temporary, file);
		}
	};
	const handlers = {
		set([domain, key, value]: [string, string, Value]) {
			domains[domain] = { ...domains[domain], [key]: value };
			save();
		},
		delete([domain, key]: [string, string]) {
			delete domains[domain]?.[key];
			save();
		},
	};
	return { ...makeService("settings", handlers), domains };
}

function readDomains(file: string): Domains {
	const domains: unknown = JSON.parse(readFileSync(file, "utf8"));
	if (typeof domains !== "object" || domains === null || Array.isArray(domains)) {
		throw new Error(`${file}: expected a JSON object of settings by domain`);
	}
	return domains as Domains;
}

/** Events of a virtual device. */
export interface DeviceEvents {
	/** A line of the firmware's log. */
	trace: [line: string];
	/** The screen has changed; `changed` names the members of the face that were shown just now. */
	screen: [screen: ScreenPicture, changed: readonly string[]];
	light: [name: string, light: LightState];
	/** A pin was opened, or its value has changed. */
	pin: [pin: PinState];
	/** The screen shows a picture, a JPEG or PNG file. */
	picture: [picture: Uint8Array];
	/** A message between the device and its backend. */
	message: [message: TracedMessage];
	/** The speaker plays. Silence between two sounds is not reported. */
	samples: [played: PlayedSamples];
	/** A sound has ended. */
	silence: [];
	/** Something that a user would notice. */
	note: [text: string];
	/** A port to serve at could not be opened. */
	listenFailed: [message: string];
	/** The engine ended, by itself or because the firmware asked for a restart. */
	exit: [exit: EngineExit];
	/** Something around it was changed: a sensor's value, the battery, the network. */
	surrounded: [];
	/** The device has no power until it starts. */
	halted: [];
	/** The device is up again after a restart. */
	restarted: [];
}

/** dBm */
const GOOD_SIGNAL = -52;

/** State of a device and its surroundings that restarts do not change. */
export class Environment {
	readonly events: EventEmitter<DeviceEvents>;
	readonly settings: SettingsStore;
	readonly flash: VirtualFlash;
	readonly faults = makeNetworkFaults((message) => this.events.emit("message", message));
	/** Messages to the firmware, by sensors' names, "battery", "network" and "microphone". */
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
	/** Parts of a project, by name. */
	own: Readonly<Record<string, OwnPart>> = {};
	/** URL of a page that shows the device. */
	pageUrl: string | undefined;

	/** @throws Error if the settings file exists and cannot be read */
	constructor(events: EventEmitter<DeviceEvents>, firmware: string, settingsFile: string | undefined) {
		this.events = events;
		this.settings = openSettings(settingsFile);
		this.flash = makeFlash(firmware);
	}
}
