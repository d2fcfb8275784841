import { LRUCache } from "lru-cache";
import { type CallDetails, type CallRecord, isUserOnly, type Server } from "xs-mcp-manager/core";
import type { FirmwareUpdate } from "../devices/firmware/firmware-updates.js";
import { answerText, argumentsText } from "./call-texts.js";
import type { CallEntry, CallStatistics, FirmwareEntry, RejectionEntry, StateChange } from "./messages.js";

/** Maximum number of devices with recorded activity. The least recently active is dropped. */
const MAX_DEVICES = 10_000;

/** Durations of one device that the percentiles are of, and states that it went through. */
const MAX_DURATIONS = 64;
const MAX_STATES = 24;

/** Calls of all devices, and rejections, that are kept. Many calls are dropped at once: that moves all others. */
const MAX_CALLS = 2_000;
const DROPPED_AT_ONCE = 200;
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
	/** Statistics of these calls, computed on demand. */
	statistics: CallStatistics | undefined;
}

/** A call, and what not everybody may see of it. */
export interface KeptCall {
	readonly entry: CallEntry;
	/** Whether its arguments and its answer are shown only to those who may call user-only tools. */
	readonly isUserOnly: boolean;
}

/** Recent activity for the console: calls, states, updates and rejections. */
export class Activity {
	readonly #devices = new LRUCache<string, DeviceCalls>({ max: MAX_DEVICES });
	readonly #states = new LRUCache<string, readonly StateChange[]>({ max: MAX_DEVICES });
	readonly #updates = new LRUCache<string, FirmwareEntry>({ max: MAX_DEVICES });
	readonly #calls: KeptCall[] = [];
	readonly #rejections: RejectionEntry[] = [];
	#number = 0;

	/** The last calls of a device, the oldest first. */
	callsOf(id: string): readonly KeptCall[] {
		return this.#calls.filter(({ entry }) => entry.serverId === id);
	}

	/** The rejections of the last ten minutes, the oldest first. */
	get rejections(): readonly RejectionEntry[] {
		const first = Date.now() - REJECTION_TIME;
		return this.#rejections.filter(({ time }) => time >= first);
	}

	/** A call has ended. @returns its entry */
	called(record: CallRecord, details: CallDetails): KeptCall {
		const { clientName: client } = details;
		const [args, answer] = [argumentsText(details), answerText(details)];
		this.#number += 1;
		const entry = { ...record, number: this.#number, time: Date.now(), args, answer, ...(client && { client }) };
		const kept = { entry, isUserOnly: isUserOnly(details.tool) };
		this.#calls.push(kept);
		if (this.#calls.length > MAX_CALLS) {
			this.#calls.splice(0, DROPPED_AT_ONCE);
		}
		const { outcome, duration, serverId } = record;
		const none = { count: 0, failed: 0, lastFailed: false, durations: [], statistics: undefined };
		const calls: DeviceCalls = this.#devices.get(serverId) ?? none;
		calls.count += 1;
		calls.lastFailed = outcome !== "ok" && !OF_CALLERS.has(outcome);
		calls.failed += calls.lastFailed ? 1 : 0;
		calls.durations.push(duration);
		if (calls.durations.length > MAX_DURATIONS) {
			calls.durations.shift();
		}
		calls.statistics = undefined;
		this.#devices.set(serverId, calls);
		return kept;
	}

	/** A device may be in another state. */
	stateChanged({ id, online, state }: Server): void {
		const before = this.#states.get(id) ?? [];
		const current = online ? (state ?? "online") : "offline";
		if (before.at(-1)?.state !== current) {
			this.#states.set(id, [...before, { state: current, since: Date.now() }].slice(-MAX_STATES));
		}
	}

	/** The states that a device went through, the oldest first. */
	statesOf(id: string): readonly StateChange[] {
		return this.#states.get(id) ?? [];
	}

	/** A device's update has got further. */
	updated(update: FirmwareUpdate): void {
		this.#updates.set(update.device, { ...update, time: Date.now() });
	}

	/** The last step of a device's update; undefined without one. */
	updateOf(id: string): FirmwareEntry | undefined {
		return this.#updates.peek(id);
	}

	/** A device's connection or message was rejected. */
	rejected(description: string): void {
		this.#rejections.push({ time: Date.now(), description });
		this.#rejections.splice(0, this.#rejections.length - MAX_REJECTIONS);
	}

	/** The calls of a device; undefined if it was not called. */
	statistics(id: string): CallStatistics | undefined {
		const calls = this.#devices.peek(id);
		if (calls !== undefined && calls.statistics === undefined) {
			const { count, failed, lastFailed, durations } = calls;
			const sorted = [...durations].sort((one, other) => one - other);
			// A share of less than 1 is within the list.
			const percentile = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
			calls.statistics = { count, failed, lastFailed, p50: percentile(0.5), p95: percentile(0.95) };
		}
		return calls?.statistics;
	}
}
