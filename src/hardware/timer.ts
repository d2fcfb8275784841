/** A running timer, opaque to the firmware. */
export type TimerHandle = object;

/** The shape of Moddable's `timer` module. Times are milliseconds. */
export interface TimerModule {
	set(callback: () => void, delay: number): TimerHandle;
	repeat(callback: () => void, interval: number): TimerHandle;
	/** Does nothing for undefined or for a timer that has run. */
	clear(timer: TimerHandle | null | undefined): void;
}

/** Timers and the log, which most classes use. */
export interface Runtime {
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}
