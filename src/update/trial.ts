import type { Settings } from "../hardware/hardware.js";
import type { Runtime, TimerHandle } from "../hardware/timer.js";
import type { Updater } from "../hardware/updater.js";
import { FIRMWARE } from "../settings/firmware.js";

export interface TrialOptions extends Runtime {
	/** Undefined on a board that cannot update itself. */
	readonly updater: Pick<Updater, "isOnTrial" | "confirm" | "rollBack"> | undefined;
	readonly settings: Settings | undefined;
	/** Milliseconds in which the device must reach its backend. */
	readonly time: number;
	/** Shows that new firmware was rolled back. */
	readonly onFailed: (message: string) => void;
}

/**
 * The trial of new firmware: if the device does not reach its backend in time, it rolls back. At any restart before
 * that the bootloader rolls back.
 */
export class Trial {
	private readonly options: TrialOptions;
	/** Firmware that was on trial before this start, and was rolled back. */
	private rolledBack: string | undefined;
	private deadline: TimerHandle | undefined;
	/** Whether the running firmware is on trial. */
	isRunning: boolean;

	constructor(options: TrialOptions) {
		this.options = options;
		this.isRunning = options.updater?.isOnTrial === true;
	}

	/** Starts the trial, if the running firmware is on trial. Otherwise reports if firmware was rolled back. */
	start(): void {
		const { updater, settings, time, timer, log } = this.options;
		if (this.isRunning) {
			log(`firmware ${FIRMWARE.version} is on trial: it has ${time / 1000} s to reach its backend`);
			this.deadline = timer.set(() => {
				this.isRunning = false;
				this.tell(`${FIRMWARE.version} did not reach its backend in time; rolling back`);
				rollBack(this.options);
			}, time);
			return;
		}
		this.rolledBack = updater && forgetTrial(settings);
		if (this.rolledBack !== undefined) {
			this.tell(`${this.rolledBack} did not reach its backend; rolled back to ${FIRMWARE.version}`);
		}
	}

	/** Whether this version was rolled back before this start, so that it is not installed again. */
	hasFailed(version: string): boolean {
		return this.rolledBack === version;
	}

	/** The device has reached its backend: confirms the firmware. */
	pass(): void {
		if (!this.isRunning) {
			return;
		}
		const { updater, settings, timer, log } = this.options;
		this.isRunning = false;
		timer.clear(this.deadline);
		try {
			updater?.confirm();
			forgetTrial(settings);
			log(`firmware ${FIRMWARE.version} is confirmed`);
		} catch (error) {
			log(`could not confirm firmware ${FIRMWARE.version}: ${String(error)}`);
		}
	}

	private tell(message: string): void {
		this.options.log(`update failed: ${message}`);
		this.options.onFailed(message);
	}
}

/** Restarts into the previous firmware. Logs an error without one. */
export const rollBack = ({ updater, log }: Pick<TrialOptions, "updater" | "log">): void => {
	try {
		updater?.rollBack();
	} catch (error) {
		log(`rollback failed: ${String(error)}`);
	}
};

const DOMAIN = "update";
const KEY = "trial";

/** Stores which firmware is on trial from the next restart on: its version, or its URL if the version is unknown. */
export const rememberTrial = (settings: Settings | undefined, name: string): void => {
	settings?.set(DOMAIN, KEY, name);
};

/** The firmware put on trial last, unless already read. */
const forgetTrial = (settings: Settings | undefined): string | undefined => {
	const name = settings?.get(DOMAIN, KEY);
	if (typeof name !== "string") {
		return undefined;
	}
	settings?.delete(DOMAIN, KEY);
	return name;
};
