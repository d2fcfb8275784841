import type { Settings } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";

interface StartCount {
	readonly settings: Settings | undefined;
	readonly timer: TimerModule;
	/** Consecutive starts that may fail. */
	readonly most: number;
	/** Milliseconds after which a start counts as good. */
	readonly lasting: number;
}

const KEY = "starts";

/**
 * Counts starts after which the machine soon restarted, in a domain of the settings.
 *
 * @returns whether the last `most` starts failed. The count then restarts
 */
export const hasFailedToStart = (domain: string, { settings, timer, most, lasting }: StartCount): boolean => {
	const starts = Number(settings?.get(domain, KEY) ?? 0);
	if (starts >= most) {
		settings?.delete(domain, KEY);
		return true;
	}
	settings?.set(domain, KEY, starts + 1);
	timer.set(() => settings?.delete(domain, KEY), lasting);
	return false;
};
