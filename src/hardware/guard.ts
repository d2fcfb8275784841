import type { Runtime } from "./hardware.js";

/** Milliseconds between two errors in the log: a part that is polled may fail many times a second. */
const LOG_INTERVAL = 10_000;

/** Maximum characters of an error that is kept. */
const MAX_ERROR = 200;

/** Reasons for which XS ends the machine although it could continue. Lack of memory is not one. */
const UNHANDLED: readonly string[] = Object.freeze(["unhandled exception", "unhandled rejection"]);

/** Keeps the machine running after exceptions that nobody caught. Counts each, and logs one in ten seconds. */
export class Guard {
	private readonly log: Runtime["log"];
	private readonly ticks: () => number;
	/** Errors since the start. */
	count = 0;
	/** The latest error; undefined without any. */
	lastError: string | undefined;
	/** When an error was logged last. */
	private logged: number | undefined;

	/** @param ticks a monotonic clock: milliseconds, as a 32-bit number */
	constructor(log: Runtime["log"], ticks: () => number) {
		this.log = log;
		this.ticks = ticks;
	}

	/**
	 * Replaces the default of XS, which ends the machine. XS calls the global function `abort` before that, if the
	 * manifest has the define `xs.abortHook`, and continues if it returns false.
	 */
	install(): void {
		(globalThis as { abort?: unknown }).abort = (reason: string, error: unknown): boolean => {
			const isUnhandled = UNHANDLED.includes(reason);
			if (isUnhandled) {
				this.report(error);
			}
			return !isUnhandled;
		};
	}

	/** Counts and logs an error. */
	report(error: unknown): void {
		this.count += 1;
		this.lastError = String(error).slice(0, MAX_ERROR);
		const now = this.ticks();
		if (this.logged === undefined || (now - this.logged) >>> 0 >= LOG_INTERVAL) {
			this.logged = now;
			this.log(`error ${this.count} since the start: ${this.lastError}`);
		}
	}

	/** Runs an action that may fail without consequences. @returns undefined if it has failed */
	run<Result>(action: () => Result): Result | undefined {
		try {
			return action();
		} catch (error) {
			this.report(error);
			return undefined;
		}
	}
}
