import { LRUCache } from "lru-cache";
import { type CallDetails, type CallRecord, isUserOnly, type Server } from "xs-mcp-manager/core";
import type { FirmwareUpdate } from "../devices/firmware/firmware-updates.js";
import type { HistoryPart } from "../history/history.js";
import type { CallEntry } from "./messages.js";

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

/** Characters of a call's arguments, and of its result, that are kept. */
const MAX_ARGUMENTS = 500;
const MAX_ANSWER = 200;

/** Characters of one string among the arguments. */
const MAX_STRING = 200;

/** Names of arguments that are always secrets, even if the schema does not say so. */
const SECRET_NAME = /pass(word|phrase|code)?$|secret|token|api_?key|credential|authorization/i;

/** Query parameters of URLs that are secrets: the key of a firmware download. */
const SECRET_PARAMETER = /([?&](?:key|token|secret|password|signature|sig|code)=)[^&#\s"':,;)<>]+/gi;

const HIDDEN = "•••";

interface DeviceCalls {
	count: number;
	failed: number;
	lastFailed: boolean;
	readonly durations: number[];
	/** Statistics of these calls, computed on demand. */
	statistics: CallStatistics | undefined;
}

/** Recent activity for the console: calls, states, updates and rejections. */
export function recordActivity() {
	const devices = new LRUCache<string, DeviceCalls>({ max: MAX_DEVICES });
	const states = new LRUCache<string, HistoryPart["states"]>({ max: MAX_DEVICES });
	const updates = new LRUCache<string, FirmwareUpdate & { readonly time: number }>({ max: MAX_DEVICES });
	/** `isUserOnly`: its arguments and its answer are shown only to those who may call user-only tools. */
	const calls: { readonly entry: CallEntry; readonly isUserOnly: boolean }[] = [];
	const rejections: { readonly time: number; readonly description: string }[] = [];
	let number = 0;
	return {
		callsOf: (id: string) => calls.filter(({ entry }) => entry.serverId === id),
		statesOf: (id: string) => states.get(id) ?? [],
		/** The last step of a device's update; undefined without one. */
		updateOf: (id: string) => updates.peek(id),
		/** The rejections of the last ten minutes, the oldest first. */
		get rejections() {
			const first = Date.now() - REJECTION_TIME;
			return rejections.filter(({ time }) => time >= first);
		},
		/** Adds a call that has ended. Returns its entry. */
		called(record: CallRecord, details: CallDetails) {
			const { outcome, duration, serverId } = record;
			const { clientName, tool } = details;
			const title = tool.title ?? tool.annotations?.title;
			number += 1;
			// V8 needs ten times as long for members after a spread.
			const entry = {
				number,
				time: Date.now(),
				args: argumentsText(details),
				answer: answerText(details),
				client: clientName || undefined,
				title: title ? shorten(title, MAX_STRING) : undefined,
				...record,
			};
			const kept = { entry, isUserOnly: isUserOnly(tool) };
			calls.push(kept);
			if (calls.length > MAX_CALLS) {
				calls.splice(0, DROPPED_AT_ONCE);
			}
			const none = { count: 0, failed: 0, lastFailed: false, durations: [], statistics: undefined };
			const own: DeviceCalls = devices.get(serverId) ?? none;
			own.count += 1;
			own.lastFailed = outcome !== "ok" && !OF_CALLERS.has(outcome);
			own.failed += own.lastFailed ? 1 : 0;
			own.durations.push(duration);
			if (own.durations.length > MAX_DURATIONS) {
				own.durations.shift();
			}
			own.statistics = undefined;
			devices.set(serverId, own);
			return kept;
		},
		/** Adds the state of a device, which may be the same as before. */
		stateChanged({ id, online, state }: Server): void {
			const before = states.get(id) ?? [];
			const current = online ? (state ?? "online") : "offline";
			if (before.at(-1)?.state !== current) {
				states.set(id, [...before, { state: current, since: Date.now() }].slice(-MAX_STATES));
			}
		},
		updated: (update: FirmwareUpdate) => void updates.set(update.device, { ...update, time: Date.now() }),
		/** Adds the rejection of a device's connection or message. */
		rejected(description: string): void {
			rejections.push({ time: Date.now(), description });
			rejections.splice(0, rejections.length - MAX_REJECTIONS);
		},
		/** The calls of a device in numbers; undefined if it was not called. */
		statistics(id: string): CallStatistics | undefined {
			const own = devices.peek(id);
			if (own !== undefined && own.statistics === undefined) {
				own.statistics = statisticsOf(own);
			}
			return own?.statistics;
		},
	};
}

/** Calls since the gateway started, without failures caused by the caller. The percentiles are of the last ones, in milliseconds. */
export type CallStatistics = ReturnType<typeof statisticsOf>;

function statisticsOf({ count, failed, lastFailed, durations }: DeviceCalls) {
	const sorted = [...durations].sort((one, other) => one - other);
	// A share of less than 1 is within the list.
	const percentile = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
	return { count, failed, lastFailed, p50: percentile(0.5), p95: percentile(0.95) };
}

/** The arguments of a call as JSON, cut, without those that are secrets by their name or schema. */
function argumentsText({ args, tool }: Pick<CallDetails, "args" | "tool">): string {
	const properties = (tool.inputSchema.properties ?? {}) as Record<string, { format?: unknown; writeOnly?: unknown }>;
	const text = JSON.stringify(args, (name, value) => {
		const { format, writeOnly } = properties[name] ?? {};
		if (name !== "" && (SECRET_NAME.test(name) || format === "password" || writeOnly === true)) {
			return HIDDEN;
		}
		return typeof value === "string" ? shorten(value, MAX_STRING) : value;
	});
	return shorten(text, MAX_ARGUMENTS);
}

/** The result in words: texts, and kinds of pictures and sound; empty without a result. */
function answerText({ result }: Pick<CallDetails, "result">): string {
	const parts = (result?.content ?? []).map((block) => {
		if (block.type === "text") {
			return shorten(block.text, MAX_ANSWER);
		}
		return "mimeType" in block && typeof block.mimeType === "string" ? `[${block.mimeType}]` : `[${block.type}]`;
	});
	return shorten(parts.join(" "), MAX_ANSWER);
}

/** Cuts a text, and hides the secrets in its URLs. */
function shorten(text: string, length: number): string {
	const hidden = text.includes("=") ? text.replace(SECRET_PARAMETER, `$1${HIDDEN}`) : text;
	return hidden.length > length ? `${hidden.slice(0, length)}…` : hidden;
}
