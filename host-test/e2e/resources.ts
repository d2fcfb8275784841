import { readdirSync } from "node:fs";

/** Number of open resources of this process by kind: sockets, timers, child processes, file handles. */
export type Resources = Readonly<Record<string, number>>;

/** Counts what is open now: what Node knows of, and on Linux the system's file handles. */
export function resources(): Resources {
	const counts: Record<string, number> = {};
	for (const kind of process.getActiveResourcesInfo()) {
		counts[kind] = (counts[kind] ?? 0) + 1;
	}
	return process.platform === "linux" ? { ...counts, files: readdirSync("/proc/self/fd").length } : counts;
}

/** Resources whose count has grown. */
export function grown(before: Resources, now: Resources): Resources {
	return Object.fromEntries(
		Object.entries(now)
			.map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const)
			.filter(([, more]) => more > 0),
	);
}

/** Bytes of JavaScript's heap in use, after a collection where Node was started with --expose-gc. */
export function heapBytes(): number {
	globalThis.gc?.();
	return process.memoryUsage().heapUsed;
}
