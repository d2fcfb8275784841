// Modules that each host resolves differently: Moddable's SDK, the virtual device's stand-ins, a board's folder.

/** Moddable's timers. Milliseconds. */
declare module "timer" {
	import type { TimerModule } from "../hardware/hardware.js";

	const Timer: TimerModule & {
		/** Blocks the machine. */
		delay(milliseconds: number): void;
	};
	export default Timer;
}

/** The machine's clock. */
declare module "time" {
	const Time: {
		/** Seconds since 1970. */
		set(seconds: number): void;
		/** A monotonic clock: milliseconds, as a 32-bit number that wraps around. */
		readonly ticks: number;
		/** Seconds that local time is ahead of UTC. */
		timezone: number;
	};
	export default Time;
}

/** The built-in settings: the manifest's `config`, and those of mcconfig's command line. */
declare module "mc/config" {
	const config: Readonly<Record<string, unknown>> & {
		/** The driver of the target's screen. */
		readonly Screen: new (
			options: object,
		) => object;
		/** Degrees by which the target's screen is rotated. mcconfig always sets it. */
		readonly rotation: 0 | 90 | 180 | 270;
		/** Degrees by which the screen's driver is to rotate, on targets whose screen is built in that way. */
		readonly driverRotation?: number;
	};
	export default config;
}

/** Moddable's store for values that outlive a restart. */
declare module "preference" {
	import type { Settings } from "../hardware/hardware.js";

	const Preference: Settings;
	export default Preference;
}

/** The features of a build. */
declare module "src/platform/features" {
	import type { Feature } from "../core/listener.js";
	export function findFeatures(): readonly Feature[];
}

/** The tools of a build. */
declare module "src/platform/tools" {
	import type { HardwareTool } from "../tools/define-tool.js";
	export function findTools(wanted?: readonly string[]): readonly HardwareTool[];
}

/** The network clients that the host has. */
declare module "src/platform/network" {
	import type { NetworkClients } from "../protocols/transport.js";
	/** @param built the settings of the build */
	export function openNetwork(built: Readonly<Record<string, unknown>>): NetworkClients;
}

/** The board that the firmware is built for. */
declare module "src/hardware/boards/target/board" {
	import type { Host } from "../core/application.js";
	export const openBoard: Host["openBoard"];
}

/** The virtual device's Node side, for its simulated board. */
declare module "virtual-host" {
	import type { ByteSource, PictureSink } from "../hardware/pictures.js";
	import type { FirmwareSink, Updater } from "../hardware/updater.js";
	import type { AudioOutClass } from "../sound/played-sound.js";
	import type { CodecParts } from "../sound/recording.js";

	/** Node plays in real time, and forwards the samples. */
	export const AudioOut: AudioOutClass;
	/** Node hears in real time. */
	export const AudioIn: CodecParts["AudioIn"];
	/** Node decodes and encodes Opus. */
	export const OpusThread: CodecParts["OpusThread"];
	/** The parts of a simulated board. */
	export interface VirtualBoardProfile {
		readonly name: string;
		/** Its parts, by their names in `Hardware`, besides those below and those of every virtual device. */
		readonly parts: readonly string[];
		/** Whether its codec records while it plays. */
		readonly isFullDuplex?: boolean;
		/** Pixels; undefined without a screen. */
		readonly screen?: { readonly width: number; readonly height: number };
		/** Names of the buttons. The first one is the main button. */
		readonly buttons: readonly string[];
		readonly lights: readonly string[];
		/** Each has the name of its kind. */
		readonly sensors: readonly ("temperature" | "light" | "motion")[];
		/** Ranges of its head in degrees, if it has one. */
		readonly head?: Readonly<Record<"yaw" | "pitch", { readonly min: number; readonly max: number }>>;
	}
	/** The options of the command line. */
	export const options: {
		readonly macAddress: string;
		readonly resetReason: string | undefined;
		readonly board: VirtualBoardProfile;
	};
	/** A picture of the simulated room, as a JPEG file. */
	export function capture(): Promise<ByteSource>;
	/** Draws the simulated screen, as a JPEG file. */
	export function drawScreen(screen: object, quality: number): Promise<ByteSource>;
	/** Shows a picture on the simulated screen. */
	export function beginPicture(): PictureSink;
	/** Messages of the board to Node. */
	interface Told {
		/** Milliseconds. */
		restart: [delay: number];
		/** The content of the simulated screen; `changed` names the members of the face that were shown just now. */
		screen: [screen: object, changed: readonly string[]];
		light: [name: string, light: { on: boolean; brightness: number; color: number }];
		/** Degrees. */
		servo: [name: string, angle: number];
		/** A line of the conversation. */
		chat: [line: string];
	}
	export function tell<Kind extends keyof Told>(kind: Kind, ...args: Told[Kind]): void;
	/** Actions of the user. */
	interface Done {
		button: [name: string, isDown: boolean];
		/** The user holds a button down for some milliseconds. */
		press: [name: string, milliseconds: number];
		/** The user says a text by typing it. */
		typed: [text: string];
		/** Percent. */
		battery: [level: number, charging: boolean];
		/** The network is lost or comes back, or has another signal, in dBm. */
		network: [online: boolean, rssi: number];
		reading: [sensor: string, reading: number | Record<string, number>];
		/** The microphone is switched off, or on. */
		muted: [isMuted: boolean];
	}
	/** Calls back when the user does that. There is one callback for each kind. */
	export function on<Kind extends keyof Done>(kind: Kind, callback: (...args: Done[Kind]) => void): void;
	/** The two places for firmware. */
	export const firmware: Omit<Updater, "begin"> & FirmwareSink & { begin(): void };
}
