import type { Screen } from "../hardware/hardware.js";
import type { Installer, UpdateProgress } from "../hardware/updater.js";
import type { Words } from "../language/en.js";

/** The application, as an installer needs it. */
export interface InstallerLink {
	/** Firmware is being installed, or could not be. */
	onUpgrade(state: "upgrading" | "idle"): void;
	log(message: string): void;
}

interface InstallerObserver {
	readonly screen: Pick<Screen, "show"> | undefined;
	readonly words: Words | undefined;
	readonly link: InstallerLink;
}

/**
 * Wraps an installer so that it reports to the state machine, the screen and the log, and installs one image at a time;
 * none after a successful one, because the device is about to restart.
 */
export const observedInstaller = (installer: Installer, { screen, words, link }: InstallerObserver): Installer => {
	let isBusy = false;
	const alert = (status: keyof Words, message: string): void => {
		screen?.show({ alert: { status: words?.[status] ?? "", message } });
	};
	return {
		async install(source, onProgress) {
			const show: UpdateProgress = (bytes, total) => {
				alert("updating", amount(bytes, total));
				onProgress?.(bytes, total);
			};
			if (isBusy) {
				// The screen shows how far the other one is.
				const reason = "another update is in progress";
				link.log(`upgrade from ${source.url} rejected: ${reason}`);
				throw new Error(reason);
			}
			isBusy = true;
			link.onUpgrade("upgrading");
			try {
				await installer.install(source, show);
			} catch (error) {
				isBusy = false;
				link.onUpgrade("idle");
				link.log(`upgrade from ${source.url} failed: ${String(error)}`);
				alert("updateFailed", String(error));
				throw error;
			}
		},
	};
};

const amount = (bytes: number, total: number | undefined): string =>
	total === undefined ? `${Math.floor(bytes / 1024)} KB` : `${Math.floor((100 * bytes) / total)} %`;
