import type { Addons } from "../app/addons.js";
import { observedInstaller } from "../app/observed-installer.js";
import { FirmwareInstaller } from "../update/firmware-installer.js";
import { rollBack, Trial } from "../update/trial.js";

const update: Addons["update"] = {
	installer: (options) => new FirmwareInstaller(options),
	observe: observedInstaller,
	trial: (options) => new Trial(options),
	rollBack,
};
export default update;
