import * as z from "zod";
import type { JsonLines } from "./json-lines.js";
import { MAX_VALUES, type Value } from "./status-values.js";
import { thinned } from "./thinned.js";

/** States of a device that are kept in a minute. */
const MAX_STATES = 30;

/** Characters of a message of a device's log. */
const MAX_MESSAGE = 500;

/** Messages of a device's log that are read. */
const MAX_MESSAGES = 500;

const VALUE = z.union([z.number(), z.boolean(), z.string()]);
const LINE = z.object({
	time: z.number(),
	values: z.record(z.string(), VALUE).optional(),
	state: z.string().optional(),
});
const MESSAGE = z.object({ time: z.number(), level: z.string(), text: z.string() });

/** A span of time: milliseconds since 1970. */
export interface Span {
	readonly from: number;
	readonly to: number;
}

/** The measurements and states of a device. */
export interface HistoryPart {
	/** By their paths in the status: times in milliseconds since 1970, and values. Each holds until the next one. */
	readonly values: Readonly<Record<string, readonly (readonly [time: number, value: Value])[]>>;
	/** The oldest first. "offline" and "online" are states, too. */
	readonly states: readonly { readonly state: string; readonly since: number }[];
}

/** A message of a device's log. */
export type LoggedMessage = z.infer<typeof MESSAGE>;

/** The history of one device, on disk. Values are written once a minute if they have changed, states at once. */
export class DeviceHistory {
	readonly #lines: JsonLines;
	readonly #openLog: () => Promise<JsonLines>;
	/** Undefined while it is empty: there are thousands of devices, and most log nothing. */
	#log: JsonLines | undefined;
	#openingLog: Promise<void> | undefined;
	/** As the file has them; undefined: none. */
	#known: Map<string, Value> | undefined;
	/** Not written yet; undefined: none. */
	#changed: Map<string, Value> | undefined;
	#state: string | undefined;
	#writtenState: string | undefined;
	#statesWritten = 0;
	/** When its status was read: milliseconds since 1970. */
	measuredAt = 0;

	/** @param open opens a file of the device; `first` is its first line */
	static async open(
		open: (kind: "values" | "log", first?: () => object) => Promise<JsonLines>,
	): Promise<DeviceHistory> {
		let history: DeviceHistory | undefined;
		const lines = await open("values", () => history?.snapshot ?? {});
		const log = await open("log");
		history = new DeviceHistory(lines, log.bytes > 0 ? log : undefined, () => open("log"));
		return history;
	}

	private constructor(lines: JsonLines, log: JsonLines | undefined, openLog: () => Promise<JsonLines>) {
		this.#lines = lines;
		this.#log = log;
		this.#openLog = openLog;
	}

	/** Bytes on disk. */
	get bytes(): number {
		return this.#lines.bytes + (this.#log?.bytes ?? 0);
	}

	/** Every value that the file has. */
	get snapshot(): object {
		return {
			time: Date.now(),
			values: Object.fromEntries(this.#known ?? []),
			...(this.#state && { state: this.#state }),
		};
	}

	/** The device has these values now. */
	measured(values: ReadonlyMap<string, Value>): void {
		this.#known ??= new Map();
		const known = this.#known;
		for (const [path, value] of values) {
			if (known.get(path) === value) {
				this.#changed?.delete(path);
			} else if (known.has(path) || known.size + (this.#changed?.size ?? 0) < MAX_VALUES) {
				this.#changed ??= new Map();
				this.#changed.set(path, value);
			}
		}
	}

	/** The device may be in another state. */
	stateChanged(state: string): void {
		this.#state = state;
		if (state !== this.#writtenState && this.#statesWritten < MAX_STATES) {
			this.#statesWritten += 1;
			this.#writtenState = state;
			this.#lines.append({ time: Date.now(), state });
		}
	}

	/** The device has logged something. Rejects if the file cannot be opened. */
	async logged(level: string, text: string): Promise<void> {
		const message = { time: Date.now(), level, text: text.slice(0, MAX_MESSAGE) };
		if (this.#log === undefined) {
			this.#openingLog ??= this.#openLog().then((log) => {
				this.#log = log;
			});
			await this.#openingLog;
		}
		this.#log?.append(message);
	}

	/** Writes what has changed in the last minute. */
	flush(): void {
		this.#statesWritten = 0;
		if (this.#state !== undefined) {
			this.stateChanged(this.#state);
		}
		if (this.#changed !== undefined && this.#changed.size > 0) {
			this.#lines.append({ time: Date.now(), values: Object.fromEntries(this.#changed) });
			this.#changed.forEach((value, path) => void this.#known?.set(path, value));
		}
		this.#changed = undefined;
	}

	/** Its measurements and states in a span of time. A long span has the least and the greatest values. */
	async read({ from, to }: Span): Promise<HistoryPart> {
		const series = new Map<string, (readonly [number, Value])[]>();
		const states: { state: string; since: number }[] = [];
		for await (const entry of this.#lines.read()) {
			const { time, values = {}, state } = LINE.safeParse(entry).data ?? { time: Number.POSITIVE_INFINITY };
			if (time > to) {
				continue;
			}
			for (const [path, value] of Object.entries(values)) {
				extend(series, path, [time, value], from);
			}
			if (state !== undefined && states.at(-1)?.state !== state) {
				states.push({ state, since: time });
			}
		}
		// The state at the beginning is the last one before it.
		const first = states.filter(({ since }) => since <= from).length - 1;
		return {
			values: Object.fromEntries([...series].map(([path, points]) => [path, thinned(points)])),
			states: states.slice(Math.max(0, first)),
		};
	}

	/** The newest messages of its log in a span of time, the newest first. */
	async readLog({ from, to }: Span): Promise<readonly LoggedMessage[]> {
		const messages: LoggedMessage[] = [];
		for await (const entry of this.#log?.read() ?? []) {
			const { data } = MESSAGE.safeParse(entry);
			if (data !== undefined && data.time >= from && data.time <= to) {
				messages.push(data);
				messages.splice(0, messages.length - MAX_MESSAGES);
			}
		}
		return messages.reverse();
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		this.flush();
		await this.#openingLog;
		await Promise.all([this.#lines.close(), this.#log?.close()]);
	}

	/** Removes its files. */
	async remove(): Promise<void> {
		await this.#openingLog;
		await Promise.all([this.#lines.remove(), this.#log?.remove()]);
	}
}

/** Adds a point that differs from the one before. Of points before the beginning, the last one stays, at the beginning. */
function extend(
	series: Map<string, (readonly [number, Value])[]>,
	path: string,
	[time, value]: readonly [number, Value],
	from: number,
): void {
	const points = series.get(path) ?? [];
	series.set(path, points);
	if (time <= from) {
		points[0] = [from, value];
	} else if (points.at(-1)?.[1] !== value) {
		points.push([time, value]);
	}
}
