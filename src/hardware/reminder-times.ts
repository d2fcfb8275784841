import type { Settings } from "./hardware.js";
import { MAX_REMINDERS } from "./reminders.js";

/** The domain of stored timers: by their ids, each "TIME TEXT". */
export const REMINDERS = "timers";

/** 2024, in milliseconds since 1970. A clock that says less was not set since the chip has started. */
export const SET_CLOCK = 1_704_067_200_000;

/** When the next stored timer is due, in milliseconds since 1970; undefined without one. */
export const nextReminder = (settings: Settings): number | undefined => {
	let next: number | undefined;
	for (let id = 1; id <= MAX_REMINDERS; id += 1) {
		const due = Number.parseInt(String(settings.get(REMINDERS, String(id)) ?? ""), 10);
		if (!Number.isNaN(due) && (next === undefined || due < next)) {
			next = due;
		}
	}
	return next;
};
