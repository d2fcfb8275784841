/** A timer that runs; its nature is the host's. */
export type TimerHandle = object;

/** The shape of Moddable's `timer` module, as far as it is used. Times are milliseconds. */
export interface TimerModule {
	set(callback: () => void, delay: number): TimerHandle;
	repeat(callback: () => void, interval: number): TimerHandle;
	/** None is as good as one that has run: nothing is cleared. */
	clear(timer: TimerHandle | null | undefined): void;
}
