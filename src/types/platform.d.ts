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
