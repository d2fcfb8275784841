import { deepFreeze } from "../text/deep-freeze.js";
import { FirmwareInstaller, type FirmwareInstallerOptions } from "./firmware-installer.js";
import { observedInstaller } from "./observed-installer.js";
import { rollBack, Trial, type TrialOptions } from "./trial.js";

/** Installs firmware over the air. */
export default deepFreeze({
	installer: (options: FirmwareInstallerOptions): FirmwareInstaller => new FirmwareInstaller(options),
	/** Wraps an installer so that person and application are told. */
	observe: observedInstaller,
	trial: (options: TrialOptions): Trial => new Trial(options),
	rollBack,
});
