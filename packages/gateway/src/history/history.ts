import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { isUserOnly, jsonOf, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import { DEVICE_EVENTS } from "../firmware.js";
import { JsonLines } from "./json-lines.js";

/** Caller of the status tool in its own name. */
export const HISTORY_PRINCIPAL = "history";

const STATUS_TOOL = "self.get_device_status";

/** Milliseconds for which changed values are collected, until the status of a quiet device is read, and until all is written again. */
const MINUTE = 60_000;
const READ_INTERVAL = 5 * MINUTE;
const DAY = 86_400_000;

/** Maximum number of status reads at the same time. */
const MAX_READS = 16;

/** Levels of a status, values of one device, characters of a value's path, and states in a minute. */
const MAX_LEVELS = 6;
const MAX_VALUES = 100;
const MAX_PATH = 100;
const MAX_STATES = 30;

/** The only text that changes as a reading does: the strength of the network's signal. */
const TEXT = /(^|\.)signal$/;
const MAX_TEXT = 32;

/** Characters of a log message and of its level, and messages in an answer. */
const MAX_MESSAGE = 500;
const MAX_LEVEL = 16;
const MAX_MESSAGES = 500;

/** Points of one series in an answer: a plot has no more. */
const MAX_POINTS = 1_000;

/** Share of a device's disk space for its log. */
const LOG_SHARE = 1 / 4;

type Value = number | boolean | string;
type Point = readonly [time: number, value: Value];

/** A span of time, in milliseconds since 1970. */
interface Span {
	readonly from: number;
	readonly to: number;
}

/** The measurements and states of a device. */
export interface HistoryPart {
	/** Values by their paths in the status, with times in milliseconds since 1970. Each holds until the next one. */
	readonly values: Readonly<Record<string, readonly Point[]>>;
	/** The oldest first. "offline" and "online" are states, too. */
	readonly states: readonly { readonly state: string; readonly since: number }[];
}

/** A message of a device's log, with its time in milliseconds since 1970. */
interface LoggedMessage {
	readonly time: number;
	readonly level: string;
	readonly text: string;
}

/** Keeps what devices of this gateway measure, the states that they are in, and what they log. */
export class History {
	readonly #servers: ServerRegistry;
	readonly #open: (id: string) => DeviceHistory;
	/** The histories by the device's id. */
	readonly #devices = new Map<string, DeviceHistory>();
	readonly #reads = pLimit(MAX_READS);
	readonly #timer: NodeJS.Timeout;

	/**
	 * Continues with the files in the folder. Those of devices that are no longer known are deleted.
	 *
	 * @param maxBytes for each device
	 * @param onSaved called with each attempt to write, and the error if it failed
	 */
	constructor(servers: ServerRegistry, folder: string, maxBytes: number, onSaved: (error: Error | undefined) => void) {
		this.#servers = servers;
		this.#open = (id) => new DeviceHistory(join(folder, keyOf(id)), maxBytes, onSaved);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const known = new Map(servers.all.map(({ id }) => [keyOf(id), id]));
		for (const name of readdirSync(folder)) {
			const id = known.get(name.split(".")[0] as string);
			if (id === undefined) {
				rmSync(join(folder, name), { force: true });
			} else {
				this.#devices.set(id, this.#devices.get(id) ?? this.#open(id));
			}
		}
		const stateChanged = (server: Server): void =>
			this.#of(server)?.stateChanged(server.online ? (server.state ?? "online") : "offline");
		servers.on("online", stateChanged);
		servers.on("disconnected", (server, { identity }) => identity.gateway === undefined && stateChanged(server));
		servers.on("notification", (server, method, params, isState) => {
			const changed = statusAfter(method, params);
			if (changed !== undefined) {
				this.#of(server)?.measured(changed);
			} else if (method === "notifications/message") {
				this.#of(server)?.logged(params);
			} else if (isState) {
				stateChanged(server);
			}
		});
		// The values of a status call are kept, whichever client made it.
		servers.on("call", ({ serverId, outcome }, { tool, result }) => {
			const device = this.#of(servers.find(serverId));
			if (device !== undefined && tool.name === STATUS_TOOL && outcome === "ok" && result !== undefined) {
				device.measured(jsonOf(result));
				device.measuredAt = Date.now();
			}
		});
		servers.on("changed", () => {
			for (const [id, device] of this.#devices) {
				if (servers.find(id) === undefined) {
					this.#devices.delete(id);
					device.remove().catch(onSaved);
				}
			}
		});
		this.#timer = setInterval(() => this.tick(), MINUTE);
		this.#timer.unref();
	}

	/** Bytes on disk. */
	get bytes(): number {
		return [...this.#devices.values()].reduce((sum, device) => sum + device.bytes, 0);
	}

	/** Returns the history of a device; undefined if it has none yet. */
	find(id: string): DeviceHistory | undefined {
		return this.#devices.get(id);
	}

	/** Writes changes, and reads the status of devices whose last one is old. Called once a minute. */
	tick(now = Date.now()): void {
		for (const device of this.#devices.values()) {
			device.flush();
		}
		for (const server of this.#servers.all) {
			void this.#reads(async () => {
				const tool = server.tools.find((each) => each.name === STATUS_TOOL && !isUserOnly(each));
				const device = this.#of(server);
				if (tool !== undefined && device !== undefined && server.online && now - device.measuredAt >= READ_INTERVAL) {
					// The registry reports the answer, as it reports answers to clients.
					await server.call(tool, {}, { principal: HISTORY_PRINCIPAL }).catch(() => {});
				}
			});
		}
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		clearInterval(this.#timer);
		this.#reads.clearQueue();
		await Promise.all([...this.#devices.values()].map((device) => device.close()));
	}

	/** Returns the history of a device whose last session was with this gateway. Configured servers have none. */
	#of(server: Server | undefined): DeviceHistory | undefined {
		if (!server?.known || server.configured || server.connection?.identity.gateway !== undefined) {
			return undefined;
		}
		const device = this.#devices.get(server.id) ?? this.#open(server.id);
		this.#devices.set(server.id, device);
		return device;
	}
}

/** Returns the part of a status that a notification reports; undefined if it reports none. */
function statusAfter(method: string, params: Readonly<Record<string, unknown>>): object | undefined {
	const { kind, data } = DEVICE_EVENTS.find(({ notification }) => notification === method) ?? {};
	const told = kind?.status.filter(({ name }) => data?.some((member) => member.name === name)) ?? [];
	if (kind === undefined || told.length === 0) {
		return undefined;
	}
	const values = told.map(({ name }) => [name, params[name]]);
	return { [kind.plural]: { [String(params[kind.name])]: Object.fromEntries(values) } };
}

/** Returns the start of the names of a device's files. */
function keyOf(id: string): string {
	return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** The history of one device, on disk. Changed values are written once a minute, states at once. */
class DeviceHistory {
	readonly #lines: JsonLines;
	readonly #log: JsonLines;
	readonly #values = new Map<string, Value>();
	/** Paths of values to be written. */
	readonly #changed = new Set<string>();
	/** When everything was written, in milliseconds since 1970. */
	#writtenAt = Date.now();
	#state: string | undefined;
	#writtenState: string | undefined;
	#statesWritten = 0;
	/** When its status was read, in milliseconds since 1970. */
	measuredAt = 0;

	constructor(prefix: string, maxBytes: number, onSaved: (error: Error | undefined) => void) {
		this.#lines = new JsonLines(`${prefix}.values.`, maxBytes * (1 - LOG_SHARE), onSaved);
		this.#log = new JsonLines(`${prefix}.log.`, maxBytes * LOG_SHARE, onSaved);
	}

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
			if (this.#values.get(name) !== status) {
				this.#changed.add(name);
			}
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

	/** Adds `notifications/message` with these params to the device's log. */
	logged({ level, data = null, logger }: Readonly<Record<string, unknown>>): void {
		const said = typeof data === "string" ? data : JSON.stringify(data);
		const text = (logger === undefined ? said : `${logger}: ${said}`).slice(0, MAX_MESSAGE);
		this.#log.append({ time: Date.now(), level: String(level).slice(0, MAX_LEVEL), text });
	}

	/** Writes what has changed, and everything once a day, since the oldest lines are deleted. */
	flush(): void {
		const time = Date.now();
		const isDue = time - this.#writtenAt >= DAY;
		if (isDue) {
			this.#writtenState = undefined;
			this.#writtenAt = time;
		}
		this.#statesWritten = 0;
		if (this.#state !== undefined) {
			this.stateChanged(this.#state);
		}
		const changed = [...this.#values].filter(([path]) => isDue || this.#changed.has(path));
		if (changed.length > 0) {
			this.#lines.append({ time, values: Object.fromEntries(changed) });
			this.#changed.clear();
		}
	}

	/** Reads the measurements and states. */
	async read({ from, to }: Span): Promise<HistoryPart> {
		const series = new Map<string, Point[]>();
		const states: { state: string; since: number }[] = [];
		for await (const line of this.#lines.read()) {
			const { time, values = {}, state } = line as { time: number; values?: Record<string, Value>; state?: string };
			if (time > to) {
				continue;
			}
			for (const [path, value] of Object.entries(values)) {
				const points = series.get(path) ?? [];
				series.set(path, points);
				if (time <= from) {
					// The value at the start of the span is the last one before it.
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

	/** Reads the newest messages of its log, the newest first. */
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
	const [[from] = [0], [to] = [0]] = [points[0], points.at(-1)];
	if (points.length <= MAX_POINTS) {
		return points;
	}
	const width = (to - from + 1) / (MAX_POINTS / 2);
	const spans = new Map<number, readonly [least: Point, greatest: Point]>();
	for (const point of points) {
		const number = Math.floor((point[0] - from) / width);
		const [least, greatest] = spans.get(number) ?? [point, point];
		spans.set(number, [point[1] < least[1] ? point : least, point[1] > greatest[1] ? point : greatest]);
	}
	const kept = new Set([...spans.values()].flat());
	return points.filter((point) => kept.has(point));
}
