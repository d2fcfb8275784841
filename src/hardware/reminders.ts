import type { Settings } from "./hardware.js";

/** A timer that a person or a client has set. */
export interface Reminder {
	/** From 1. */
	readonly id: number;
	readonly text: string;
	/** Seconds until it is due. */
	readonly seconds: number;
}

/** Timers that survive a restart. The firmware makes them if the build has the feature `conversation`. */
export interface Reminders {
	readonly all: readonly Reminder[];
	/** @throws Error if there are {@link MAX_REMINDERS} */
	set(seconds: number, text: string): Reminder;
	/** @throws Error if no timer has this id */
	cancel(id: number): void;
}

/** Timers at the same time. */
export const MAX_REMINDERS = 8;

/** Seconds that a timer may take: 7 days. */
export const MAX_SECONDS = 604_800;

/** Characters of what it is for. */
export const MAX_REMINDER_TEXT = 100;

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
