import type { Logger } from "./log.js";

/** Lines of one kind in an interval. */
const MAX_LINES = 10;

/** Milliseconds. */
const INTERVAL = 10_000;

/** Logs warnings that strangers can cause at any rate. */
export type LogLimiter = ReturnType<typeof limitLog>;

/** Limits the warnings of a log: the first lines of each kind in 10 s, then how many more there were. */
export function limitLog(log: Logger) {
	/** Number of lines in this interval, by kind. */
	const counts = new Map<string, number>();
	let timer: NodeJS.Timeout | undefined;
	/** Logs the counts of this interval, and starts another. */
	const flush = (): void => {
		clearTimeout(timer);
		timer = undefined;
		for (const [reason, lines] of counts) {
			if (lines > MAX_LINES) {
				const count = lines - MAX_LINES;
				log.warn({ reason, count }, `${count} more rejected`);
			}
		}
		counts.clear();
	};
	return {
		/** @param reason the kind of the warning: one of a few words */
		warn(reason: string, details: object, message: string): void {
			const count = (counts.get(reason) ?? 0) + 1;
			counts.set(reason, count);
			if (count <= MAX_LINES) {
				log.warn({ ...details, reason }, message);
			}
			timer ??= setTimeout(flush, INTERVAL).unref();
		},
		flush,
	};
}
