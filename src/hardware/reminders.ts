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
	/** The next one first. */
	readonly all: readonly Reminder[];
	/** @throws Error if there are {@link MAX_REMINDERS} */
	set(seconds: number, text: string): Reminder;
	/** @throws Error if no timer has this id */
	cancel(id: number): void;
}

/** Maximum number of timers. */
export const MAX_REMINDERS = 8;

/** Maximum seconds of a timer: 7 days. */
export const MAX_SECONDS = 604_800;

/** Maximum characters of a timer's text. */
export const MAX_REMINDER_TEXT = 100;

/** 2024, in milliseconds since 1970. An earlier clock was not set since the chip started. */
export const SET_CLOCK = 1_704_067_200_000;
