import type { System } from "../hardware/hardware.js";

/** Milliseconds after which a restart takes place, so that what is being sent still arrives. */
export const RESTART_DELAY = 1000;

/** Carries out the commands of `system` messages. */
export class SystemCommands {
	readonly #system: System | undefined;
	readonly #log: (message: string) => void;
	/** Whether the device restarts as soon as it is idle. */
	#restartsWhenIdle = false;

	constructor(system: System | undefined, log: (message: string) => void) {
		this.#system = system;
		this.#log = log;
	}

	/** @param isIdle whether the device is in the state "idle" */
	run(command: string, isIdle: boolean): void {
		if (command === "reboot" && this.#system !== undefined) {
			this.#system.restart(RESTART_DELAY);
		} else if (command === "lazy_reboot" && this.#system !== undefined) {
			this.#restartsWhenIdle = true;
			if (isIdle) {
				this.idle();
			}
		} else {
			this.#log(`unknown system command ${JSON.stringify(command)}`);
		}
	}

	/** The device is idle: no conversation is cut off. */
	idle(): void {
		if (this.#restartsWhenIdle) {
			this.#restartsWhenIdle = false;
			this.#system?.restart(RESTART_DELAY);
		}
	}
}
