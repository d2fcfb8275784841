import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { digest, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import type { DeviceStatuses } from "./device-status.js";
import { openJsonLines } from "./json-lines.js";

/** Milliseconds for which changed values are collected, until the status of a quiet device is read, and until all is written again. */
const MINUTE = 60_000;
const READ_INTERVAL = 5 * MINUTE;
const DAY = 86_400_000;

/** Requests in a turn of the event loop: clients do not wait until thousands of devices have been asked. */
const READS_PER_TURN = 16;

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
export interface LoggedMessage {
	readonly time: number;
	readonly level: string;
	readonly text: string;
}

/** The readings, states and logs of devices. */
export type History = ReturnType<typeof keepHistory>;

type OnSaved = (error: Error | undefined) => void;

/**
 * Keeps the readings, states and log lines of this gateway's devices. Continues with the files in the folder, and deletes
 * those of unknown devices.
 *
 * @param maxBytes for each device
 * @param onSaved called with each attempt to write, and the error if it failed
 */
export function keepHistory(
	servers: ServerRegistry,
	statuses: DeviceStatuses,
	folder: string,
	maxBytes: number,
	onSaved: OnSaved,
) {
	const devices = new Map<string, DeviceHistory>();
	let isOpen = true;
	const open = (id: string): DeviceHistory => {
		const device = devices.get(id) ?? openHistory(join(folder, keyOf(id)), maxBytes, onSaved);
		devices.set(id, device);
		return device;
	};
	/** Returns the history of a device whose last session was with this gateway. Configured servers have none. */
	const historyOf = (server: Server | undefined): DeviceHistory | undefined =>
		!server?.known || server.configured || server.connection?.identity.gateway !== undefined
			? undefined
			: open(server.id);

	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const known = new Map(servers.all.map(({ id }) => [keyOf(id), id]));
	for (const name of readdirSync(folder)) {
		const id = known.get(name.split(".")[0] as string);
		if (id === undefined) {
			rmSync(join(folder, name), { force: true });
		} else {
			open(id);
		}
	}
	const stateChanged = (server: Server): void =>
		historyOf(server)?.stateChanged(server.online ? (server.state ?? "online") : "offline");
	servers.on("online", stateChanged);
	servers.on("disconnected", (server, { identity }) => identity.gateway === undefined && stateChanged(server));
	servers.on("notification", (server, method, params, isState) => {
		if (method === "notifications/message") {
			historyOf(server)?.logged(params);
		} else if (isState) {
			stateChanged(server);
		}
	});
	// The values of a status are kept, whichever client has read it.
	statuses.on("reported", (server, reported) => historyOf(server)?.measured(reported));
	statuses.on("read", (server, problem) => {
		const device = historyOf(server);
		if (device !== undefined && problem === undefined) {
			device.measuredAt = Date.now();
		}
	});
	servers.on("changed", () => {
		for (const [id, device] of devices) {
			if (servers.find(id) === undefined) {
				devices.delete(id);
				device.remove().catch(onSaved);
			}
		}
	});

	/** Writes changes, and reads the status of devices whose last one is old. Called once a minute. */
	const tick = async (now = Date.now()): Promise<void> => {
		for (const device of devices.values()) {
			device.flush();
		}
		let requests = 0;
		for (const server of servers.all) {
			const device = isOpen ? historyOf(server) : undefined;
			if (device !== undefined && now - device.measuredAt >= READ_INTERVAL && statuses.read(server)) {
				requests += 1;
				if (requests % READS_PER_TURN === 0) {
					await nextTurn();
				}
			}
		}
	};
	const timer = setInterval(tick, MINUTE).unref();
	return {
		get bytes() {
			return [...devices.values()].reduce((sum, device) => sum + device.bytes, 0);
		},
		/** Returns the history of a device; undefined if it has none yet. */
		find: (id: string) => devices.get(id),
		tick,
		/** Settles when everything is written. */
		async close(): Promise<void> {
			clearInterval(timer);
			isOpen = false;
			await Promise.all([...devices.values()].map((device) => device.close()));
		},
	};
}

/** Returns the start of the names of a device's files. */
function keyOf(id: string): string {
	return digest(id).slice(0, 32);
}

type DeviceHistory = ReturnType<typeof openHistory>;

/** Opens the history of one device, on disk. Changed values are written once a minute, states at once. */
function openHistory(prefix: string, maxBytes: number, onSaved: OnSaved) {
	const lines = openJsonLines(`${prefix}.values.`, maxBytes * (1 - LOG_SHARE), onSaved);
	const log = openJsonLines(`${prefix}.log.`, maxBytes * LOG_SHARE, onSaved);
	const known = new Map<string, Value>();
	/** Paths of values to be written. */
	const changed = new Set<string>();
	/** When everything was written, in milliseconds since 1970. */
	let writtenAt = Date.now();
	let current: string | undefined;
	let writtenState: string | undefined;
	let statesWritten = 0;

	const measured = (status: unknown, path: readonly string[] = []): void => {
		const name = path.join(".");
		if (typeof status === "object" && status !== null && path.length < MAX_LEVELS) {
			for (const [key, member] of Object.entries(status)) {
				measured(member, [...path, key]);
			}
			return;
		}
		const isReading = typeof status === "number" || typeof status === "boolean";
		const isText = typeof status === "string" && status.length <= MAX_TEXT && TEXT.test(name);
		if ((isReading || isText) && name.length <= MAX_PATH && (known.has(name) || known.size < MAX_VALUES)) {
			if (known.get(name) !== status) {
				changed.add(name);
			}
			known.set(name, status);
		}
	};

	const stateChanged = (state: string): void => {
		current = state;
		if (state !== writtenState && statesWritten < MAX_STATES) {
			statesWritten += 1;
			writtenState = state;
			lines.append({ time: Date.now(), state });
		}
	};

	/** Writes what has changed, and everything once a day, since the oldest lines are deleted. */
	const flush = (): void => {
		const time = Date.now();
		const isDue = time - writtenAt >= DAY;
		if (isDue) {
			writtenState = undefined;
			writtenAt = time;
		}
		statesWritten = 0;
		if (current !== undefined) {
			stateChanged(current);
		}
		const values = [...known].filter(([path]) => isDue || changed.has(path));
		if (values.length > 0) {
			lines.append({ time, values: Object.fromEntries(values) });
			changed.clear();
		}
	};

	return {
		/** When its status was read, in milliseconds since 1970. */
		measuredAt: 0,
		/** When its last log message came, in milliseconds since 1970. */
		loggedAt: 0,
		get bytes() {
			return lines.bytes + log.bytes;
		},
		/** Takes the numbers, the switches and the signal in the device's status, by their paths: `sensors.temperature.value`. */
		measured,
		/** Takes the device's state, which may be the same as before. */
		stateChanged,
		/** Adds `notifications/message` with these params to the device's log. */
		logged({ level, data = null, logger }: Readonly<Record<string, unknown>>): void {
			const said = typeof data === "string" ? data : JSON.stringify(data);
			const text = (typeof logger === "string" ? `${logger}: ${said}` : said).slice(0, MAX_MESSAGE);
			this.loggedAt = Date.now();
			log.append({ time: this.loggedAt, level: typeof level === "string" ? level.slice(0, MAX_LEVEL) : "info", text });
		},
		flush,
		async read({ from, to }: Span): Promise<HistoryPart> {
			const series = new Map<string, Point[]>();
			const states: { state: string; since: number }[] = [];
			for await (const line of lines.read()) {
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
		},
		/** Reads the newest messages of its log, the newest first. */
		async readLog({ from, to }: Span): Promise<readonly LoggedMessage[]> {
			const messages: LoggedMessage[] = [];
			for await (const line of log.read()) {
				const message = line as unknown as LoggedMessage;
				if (message.time >= from && message.time <= to) {
					messages.push(message);
					messages.splice(0, messages.length - MAX_MESSAGES);
				}
			}
			return messages.reverse();
		},
		async close(): Promise<void> {
			flush();
			await Promise.all([lines.close(), log.close()]);
		},
		async remove(): Promise<void> {
			await Promise.all([lines.remove(), log.remove()]);
		},
	};
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
