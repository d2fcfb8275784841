import type { Application } from "../../core/application.js";
import { FIRMWARE } from "../../core/firmware.js";
import { AppPart, type Listener } from "../../core/listener.js";
import type { Settings, TimerHandle } from "../../hardware/hardware.js";

/** The trial of new firmware: without its backend in time, or after a restart, the device rolls back. */
export class Trial extends AppPart implements Listener {
	/** Version of the firmware that was rolled back before this start. */
	rolledBack: string | undefined;
	private deadline: TimerHandle | undefined;

	/** Starts the trial, if the running firmware is on trial. @throws SettingError */
	constructor(app: Application) {
		super(app);
		const seconds = app.setting("updateTrial");
		if (app.board.updater?.isOnTrial) {
			app.log(`firmware ${FIRMWARE.version} is on trial: it has ${seconds} s to reach its backend`);
			this.deadline = app.timer.set(() => {
				this.deadline = undefined;
				this.report(`${FIRMWARE.version} did not reach its backend in time; rolling back`);
				rollBack(app);
			}, seconds * 1000);
		}
	}

	/** Reports whether firmware was rolled back. */
	onStart(): void {
		const { updater, settings } = this.app.board;
		this.rolledBack = updater && !updater.isOnTrial ? forgetTrial(settings) : undefined;
		if (this.rolledBack !== undefined) {
			this.report(`${this.rolledBack} did not reach its backend; rolled back to ${FIRMWARE.version}`);
		}
	}

	/** Confirms the firmware on trial. */
	onBackendReady(): void {
		const { board, timer, log } = this.app;
		if (this.deadline === undefined) {
			return;
		}
		timer.clear(this.deadline);
		this.deadline = undefined;
		try {
			board.updater?.confirm();
			forgetTrial(board.settings);
			log(`firmware ${FIRMWARE.version} is confirmed`);
		} catch (error) {
			log(`could not confirm firmware ${FIRMWARE.version}: ${String(error)}`);
		}
	}

	onClose(): void {
		this.app.timer.clear(this.deadline);
	}

	private report(message: string): void {
		this.app.log(`update failed: ${message}`);
		this.app.alert("updateFailed", message);
	}
}

/** Restarts into the previous firmware. Logs an error without one. */
export const rollBack = ({ board, log }: Application): void => {
	try {
		board.updater?.rollBack();
	} catch (error) {
		log(`rollback failed: ${String(error)}`);
	}
};

/** Stores which firmware is on trial from the next restart on: its version, or its URL if the version is unknown. */
export const TRIAL = Object.freeze(["update", "trial"] as const);

/** The firmware put on trial last, unless already read. */
const forgetTrial = (settings: Settings | undefined): string | undefined => {
	const name = settings?.get(...TRIAL);
	if (typeof name !== "string") {
		return undefined;
	}
	settings?.delete(...TRIAL);
	return name;
};
