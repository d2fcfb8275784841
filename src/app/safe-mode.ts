import type { Board } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import { hasFailedToStart } from "../settings/failed-starts.js";
import { deepFreeze } from "../text/deep-freeze.js";

/** Features and folders of tools that a device in safe mode has: what it takes to set it up, to update it, and to reach it for that. */
export const SAFE_FEATURES: readonly string[] = deepFreeze([
	"bootstrap",
	"direct",
	"discovery",
	"http",
	"improv",
	"language",
	"mqtt",
	"search",
	"setup",
	"update",
]);
export const SAFE_TOOLS: readonly string[] = deepFreeze(["board", "log", "setup", "update"]);

/** Why a chip restarts by itself. A power-on, a wake-up and the reset button start the count again. */
const CRASHES: readonly string[] = deepFreeze([
	"software",
	"panic",
	"interrupt watchdog",
	"task watchdog",
	"watchdog",
	"brownout",
	"power glitch",
	"CPU lockup",
]);

/** Consecutive restarts, each within {@link LASTING} milliseconds, after which a device starts in safe mode. */
const MAX_RESTARTS = 10;
const LASTING = 60_000;

/** Milliseconds after which a device in safe mode tries a normal start. */
export const SAFE_TIME = 900_000;

/** Whether a device that restarts again and again is to start without what may be the cause. Call once per start. */
export const needsSafeMode = (
	{ system, settings }: Pick<Board, "system" | "settings">,
	timer: TimerModule,
): boolean => {
	if (!CRASHES.includes(system?.info().reset_reason ?? "")) {
		settings?.delete("start", "starts");
		return false;
	}
	return hasFailedToStart("start", { settings, timer, most: MAX_RESTARTS, lasting: LASTING });
};
