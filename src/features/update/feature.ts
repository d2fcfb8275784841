import type { Application } from "../../core/application.js";
import type { Feature } from "../../core/listener.js";
import type { Installer } from "../../hardware/updater.js";
import type { Words } from "../language.js";
import { FirmwareInstaller } from "./firmware-installer.js";
import { rollBack, Trial } from "./trial.js";

/**
 * Wraps an installer so that it reports to the state machine, the screen and the log, and installs one image at a time;
 * none after a successful one, because the device is about to restart.
 *
 * @param trial knows which firmware was rolled back
 */
const observed = (installer: Installer, app: Application, trial?: Trial): Installer => {
	let isBusy = false;
	/** Shows an alert without the chime. */
	const alert = (status: keyof Words, message: string): void =>
		app.board.screen?.show({ alert: { status: app.words?.[status] ?? "", message } });
	return {
		async offer(firmware) {
			const { version, url, force } = firmware;
			const offer = `firmware ${version}${force ? " (forced)" : ""}`;
			if (version === trial?.rolledBack) {
				app.log(`${offer} is available, but was rolled back; skipped until the next restart`);
			} else if (app.state === "listening" || app.state === "speaking") {
				app.log(`${offer} is available; postponed to the next check, because the device is ${app.state}`);
			} else {
				app.log(`${offer}: installing from ${url}`);
				await this.install(firmware).catch(() => {
					// The reason is already in the log and on the screen.
				});
			}
		},
		async install(source, onProgress) {
			if (isBusy) {
				// The screen shows how far the other one is.
				const reason = "another update is in progress";
				app.log(`upgrade from ${source.url} rejected: ${reason}`);
				throw new Error(reason);
			}
			isBusy = true;
			if (app.state !== "activating") {
				// A device that installs firmware neither speaks nor listens.
				app.enter("idle");
			}
			app.enter("upgrading");
			try {
				await installer.install(source, (bytes, total) => {
					alert("updating", amount(bytes, total));
					onProgress?.(bytes, total);
				});
			} catch (error) {
				isBusy = false;
				app.rest();
				app.log(`upgrade from ${source.url} failed: ${String(error)}`);
				alert("updateFailed", String(error));
				throw error;
			}
		},
	};
};

const amount = (bytes: number, total: number | undefined): string =>
	total === undefined ? `${Math.floor(bytes / 1024)} KB` : `${Math.floor((100 * bytes) / total)} %`;

/** Installs firmware over the air. */
export default {
	name: "update",
	after: ["http", "language"],
	rescue: true,
	start(app) {
		const { board, failure, log } = app;
		const { updater, http } = board;
		if (failure !== undefined && updater?.isOnTrial) {
			// New firmware that cannot use a setting will never reach its backend.
			log(`update failed: ${failure}; rolling back`);
			rollBack(app);
			return;
		}
		const installer = http && updater ? new FirmwareInstaller(app, updater, http) : board.installer;
		const trial = failure === undefined ? new Trial(app) : undefined;
		Object.assign(board, installer && { installer: observed(installer, app, trial) });
		app.listen(trial);
	},
} satisfies Feature;
