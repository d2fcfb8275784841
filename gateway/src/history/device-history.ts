import { JsonLines } from "./json-lines.js";

/** A value of a device that is kept. */
type Value = number | boolean | string;

type Point = readonly [time: number, value: Value];

/** Levels of a status, values of one device, and characters of a value's path that are kept. */
const MAX_LEVELS = 6;
const MAX_VALUES = 100;
const MAX_PATH = 100;

/** The only text that changes as a reading does: the strength of the network's signal. */
const TEXT = /(^|\.)signal$/;
const MAX_TEXT = 32;

/** States of a device that are kept in a minute. */
const MAX_STATES = 30;

/** Characters of a message of a device's log, and messages that are read. */
const MAX_MESSAGE = 500;
const MAX_MESSAGES = 500;

/** Points of one series that are sent: a plot has not more. */
const MAX_POINTS = 1_000;

/** Part of a device's disk space that is for its log. */
const LOG_SHARE = 1 / 4;

/** Milliseconds after which unchanged values are written again, since the oldest lines are deleted. */
const DAY = 86_400_000;

/** A span of time: milliseconds since 1970. */
export interface Span {
	readonly from: number;
	readonly to: number;
}

/** The measurements and states of a device. */
export interface HistoryPart {
	/** By their paths in the status: times in milliseconds since 1970, and values. Each holds until the next one. */
	readonly values: Readonly<Record<string, readonly Point[]>>;
	/** The oldest first. "offline" and "online" are states, too. */
	readonly states: readonly { readonly state: string; readonly since: number }[];
}

/** A message of a device's log. */
export interface LoggedMessage {
	/** Milliseconds since 1970. */
	readonly time: number;
	readonly level: string;
	readonly text: string;
}

/** A line of the file. */
interface Line {
	readonly time: number;
	readonly values?: Readonly<Record<string, Value>>;
	readonly state?: string;
}

/** The history of one device, on disk. Values are written once a minute if they have changed, states at once. */
export class DeviceHistory {
	readonly #lines: JsonLines;
	readonly #log: JsonLines;
	/** Values now, and those of the file in the last day. */
	readonly #values = new Map<string, Value>();
	readonly #written = new Map<string, Value>();
	#writtenSince = Date.now();
	#state: string | undefined;
	#writtenState: string | undefined;
	#statesWritten = 0;
	/** When its status was read: milliseconds since 1970. */
	measuredAt = 0;

	/**
	 * @param prefix of the paths of its files
	 * @param onSaved called with each attempt to write, and the error if it failed
	 */
	constructor(prefix: string, maxBytes: number, onSaved: (error: Error | undefined) => void) {
		this.#lines = new JsonLines(`${prefix}.values.`, { maxBytes: maxBytes * (1 - LOG_SHARE), onSaved });
		this.#log = new JsonLines(`${prefix}.log.`, { maxBytes: maxBytes * LOG_SHARE, onSaved });
	}

	/** Bytes on disk. */
	get bytes(): number {
		return this.#lines.bytes + this.#log.bytes;
	}

	/** Takes the numbers, the switches and the signal in the device's status, by their paths: `sensors.temperature.value`. */
	measured(status: unknown, path: readonly string[] = []): void {
		const name = path.join(".");
		if (typeof status === "object" && status !== null && path.length < MAX_LEVELS) {
			for (const [key, member] of Object.entries(status)) {
				this.measured(member, [...path, key]);
			}
		} else if (isKept(status, name) && (this.#values.has(name) || this.#values.size < MAX_VALUES)) {
			this.#values.set(name, status);
		}
	}

	/** Takes the device's state, which may be the same as before. */
	stateChanged(state: string): void {
		this.#state = state;
		if (state !== this.#writtenState && this.#statesWritten < MAX_STATES) {
			this.#statesWritten += 1;
			this.#writtenState = state;
			this.#lines.append({ time: Date.now(), state });
		}
	}

	/** Adds a message to the device's log. */
	logged(level: string, text: string): void {
		this.#log.append({ time: Date.now(), level, text: text.slice(0, MAX_MESSAGE) });
	}

	/** Writes what has changed. Call it once a minute. */
	flush(): void {
		const time = Date.now();
		if (time - this.#writtenSince >= DAY) {
			this.#written.clear();
			this.#writtenState = undefined;
			this.#writtenSince = time;
		}
		this.#statesWritten = 0;
		if (this.#state !== undefined) {
			this.stateChanged(this.#state);
		}
		const changed = [...this.#values].filter(([path, value]) => this.#written.get(path) !== value);
		if (changed.length > 0) {
			this.#lines.append({ time, values: Object.fromEntries(changed) });
			changed.forEach(([path, value]) => void this.#written.set(path, value));
		}
	}

	/** Reads the measurements and states in a span of time. A long span has the least and the greatest values. */
	async read({ from, to }: Span): Promise<HistoryPart> {
		const series = new Map<string, Point[]>();
		const states: { state: string; since: number }[] = [];
		for await (const line of this.#lines.read()) {
			const { time, values = {}, state } = line as unknown as Line;
			if (time > to) {
				continue;
			}
			for (const [path, value] of Object.entries(values)) {
				const points = series.get(path) ?? [];
				series.set(path, points);
				if (time <= from) {
					// The value at the beginning is the last one before it.
					points[0] = [from, value];
				} else if (points.at(-1)?.[1] !== value) {
					points.push([time, value]);
				}
			}
			if (state !== undefined && states.at(-1)?.state !== state) {
				states.push({ state, since: time });
			}
		}
		const first = states.filter(({ since }) => since <= from).length - 1;
		return {
			values: Object.fromEntries([...series].map(([path, points]) => [path, thinned(points)])),
			states: states.slice(Math.max(0, first)),
		};
	}

	/** Reads the newest messages of its log in a span of time, the newest first. */
	async readLog({ from, to }: Span): Promise<readonly LoggedMessage[]> {
		const messages: LoggedMessage[] = [];
		for await (const line of this.#log.read()) {
			const message = line as unknown as LoggedMessage;
			if (message.time >= from && message.time <= to) {
				messages.push(message);
				messages.splice(0, messages.length - MAX_MESSAGES);
			}
		}
		return messages.reverse();
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		this.flush();
		await Promise.all([this.#lines.close(), this.#log.close()]);
	}

	/** Deletes its files. */
	async remove(): Promise<void> {
		await Promise.all([this.#lines.remove(), this.#log.remove()]);
	}
}

function isKept(value: unknown, path: string): value is Value {
	const isReading = typeof value === "number" || typeof value === "boolean";
	const isText = typeof value === "string" && value.length <= MAX_TEXT && TEXT.test(path);
	return (isReading || isText) && path.length <= MAX_PATH;
}

/**
 * Thins a series to at most 1,000 points: the least and the greatest value of each of 500 spans of equal length.
 *
 * @internal exported for its test
 */
export function thinned(points: readonly Point[]): readonly Point[] {
	const [first, last] = [points[0], points.at(-1)];
	if (points.length <= MAX_POINTS || first === undefined || last === undefined) {
		return points;
	}
	const width = (last[0] - first[0] + 1) / (MAX_POINTS / 2);
	const spans = new Map<number, { least: Point; greatest: Point }>();
	for (const point of points) {
		const number = Math.floor((point[0] - first[0]) / width);
		const { least, greatest } = spans.get(number) ?? { least: point, greatest: point };
		spans.set(number, {
			least: point[1] < least[1] ? point : least,
			greatest: point[1] > greatest[1] ? point : greatest,
		});
	}
	return [...spans.values()].flatMap(({ least, greatest }) => {
		const both = least[0] <= greatest[0] ? [least, greatest] : [greatest, least];
		return least === greatest ? [least] : both;
	});
}
