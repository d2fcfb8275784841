import type { Feature } from "../app/application.js";
import { FirmwareInstaller } from "./firmware-installer.js";
import { ObservedInstaller } from "./observed-installer.js";
import { rollBack, Trial } from "./trial.js";

/** Installs firmware over the air. */
const update: Feature = {
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
		Object.assign(board, installer && { installer: new ObservedInstaller(installer, app) });
		if (failure === undefined) {
			app.listen(new Trial(app));
		}
	},
};

export default update;
