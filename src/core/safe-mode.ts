import type { Board, Settings, TimerModule } from "../hardware/hardware.js";
import { AppPart, type Listener } from "./listener.js";

/** Modules of the tools in safe mode. Of the features only the rescue ones start. */
export const SAFE_TOOLS: readonly string[] = Object.freeze(
	"assets-set-download-url get-device-status get-log get-system-info reboot reconfigure-wifi upgrade-firmware"
		.split(" ")
		.map((name) => `src/tools/${name}`),
);

/** Reset reasons that count as failed starts. Others, such as power-on and wake-up, reset the count. */
const CRASHES: readonly string[] = Object.freeze(
	"software,panic,interrupt watchdog,task watchdog,watchdog,brownout,power glitch,CPU lockup".split(","),
);

/** Consecutive restarts, each within {@link LASTING} milliseconds, after which a device starts in safe mode. */
const MAX_RESTARTS = 10;
const LASTING = 60_000;

/** Milliseconds after which a device in safe mode tries a normal start. */
const SAFE_TIME = 900_000;

const STARTS = "starts";

/**
 * Counts consecutive failed starts, in a domain of the settings.
 *
 * @param most consecutive starts that may fail
 * @param lasting milliseconds after which a start counts as good
 * @returns whether the last `most` starts failed. The count then restarts
 */
export const hasFailedToStart = (
	domain: string,
	settings: Settings | undefined,
	timer: TimerModule,
	most: number,
	lasting: number,
): boolean => {
	const starts = Number(settings?.get(domain, STARTS) ?? 0);
	if (starts >= most) {
		settings?.delete(domain, STARTS);
		return true;
	}
	settings?.set(domain, STARTS, starts + 1);
	timer.set(() => settings?.delete(domain, STARTS), lasting);
	return false;
};

/** Whether to start in safe mode, because the device has restarted repeatedly. Call once per start. */
export const needsSafeMode = (
	{ system, settings }: Pick<Board, "system" | "settings">,
	timer: TimerModule,
): boolean => {
	if (!CRASHES.includes(system?.info().reset_reason ?? "")) {
		settings?.delete("start", STARTS);
		return false;
	}
	return hasFailedToStart("start", settings, timer, MAX_RESTARTS, LASTING);
};

/** Reports that the device runs in safe mode, and restarts it after a time, except during set-up or an update. */
export class SafeMode extends AppPart implements Listener {
	onStart(): void {
		const { app } = this;
		const message = "the device restarted again and again; it has only set-up and update now";
		app.log(`safe mode: ${message}`);
		app.alert("safeMode", message);
		app.timer.repeat(() => {
			if (app.state !== "upgrading" && app.state !== "wifi_configuring") {
				app.restart();
			}
		}, SAFE_TIME);
	}
}
