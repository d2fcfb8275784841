import { LRUCache } from "lru-cache";
import type { CallRecord } from "xs-mcp-manager/core";
import type { CallEntry, CallStatistics, RejectionEntry } from "./messages.js";

/** Devices whose calls are counted: those called last. */
const MAX_DEVICES = 10_000;

/** Durations of one device that the percentiles are of. */
const MAX_DURATIONS = 64;

/** Calls, and rejections, that a page gets when it opens. */
const MAX_CALLS = 200;
const MAX_REJECTIONS = 50;

/** Milliseconds for which a rejection is shown. */
const REJECTION_TIME = 600_000;

/** Calls that ended because of the caller say nothing about the device. */
const OF_CALLERS: ReadonlySet<CallRecord["outcome"]> = new Set(["invalid-arguments", "cancelled"]);

interface DeviceCalls {
	count: number;
	failed: number;
	lastFailed: boolean;
	readonly durations: number[];
}

/** What happened of late, as far as the console shows it: calls and rejections. */
export class Activity {
	readonly #devices = new LRUCache<string, DeviceCalls>({ max: MAX_DEVICES });
	readonly #calls: CallEntry[] = [];
	readonly #rejections: RejectionEntry[] = [];

	/** The last calls, the oldest first. */
	get calls(): readonly CallEntry[] {
		return this.#calls;
	}

	/** The rejections of the last ten minutes, the oldest first. */
	get rejections(): readonly RejectionEntry[] {
		const first = Date.now() - REJECTION_TIME;
		return this.#rejections.filter(({ time }) => time >= first);
	}

	/** A call has ended. */
	called(record: CallRecord): CallEntry {
		const entry = { ...record, time: Date.now() };
		this.#calls.push(entry);
		this.#calls.splice(0, this.#calls.length - MAX_CALLS);
		const { outcome, duration, serverId } = record;
		const calls = this.#devices.get(serverId) ?? { count: 0, failed: 0, lastFailed: false, durations: [] };
		calls.count += 1;
		calls.lastFailed = outcome !== "ok" && !OF_CALLERS.has(outcome);
		calls.failed += calls.lastFailed ? 1 : 0;
		calls.durations.push(duration);
		calls.durations.splice(0, calls.durations.length - MAX_DURATIONS);
		this.#devices.set(serverId, calls);
		return entry;
	}

	/** A device's connection or message was rejected. */
	rejected(description: string): void {
		this.#rejections.push({ time: Date.now(), description });
		this.#rejections.splice(0, this.#rejections.length - MAX_REJECTIONS);
	}

	/** The calls of a device; undefined if it was not called. */
	statistics(id: string): CallStatistics | undefined {
		const calls = this.#devices.peek(id);
		if (calls === undefined) {
			return undefined;
		}
		const { durations, ...counts } = calls;
		const sorted = [...durations].sort((one, other) => one - other);
		return { ...counts, p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) };
	}
}

function percentile(sorted: readonly number[], share: number): number {
	return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
