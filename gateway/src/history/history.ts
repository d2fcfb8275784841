import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import {
	type CallDetails,
	type CallRecord,
	isUserOnly,
	jsonOf,
	type Server,
	type ServerRegistry,
} from "xs-mcp-manager/core";
import { DeviceHistory, type HistoryPart, type LoggedMessage, type Span } from "./device-history.js";
import { JsonLines } from "./json-lines.js";
import { valuesIn } from "./status-values.js";

/** Caller of the status tool in its own name. */
export const HISTORY_PRINCIPAL = "history";

const STATUS_TOOL = "self.get_device_status";

/** Milliseconds for which changed values are collected, and until the status of a quiet device is read. */
const MINUTE = 60_000;
const READ_INTERVAL = 5 * MINUTE;

/** Status reads at the same time. */
const MAX_READS = 16;

/** Part of a device's disk space that is for its log. */
const LOG_SHARE = 1 / 4;

interface HistoryOptions {
	readonly servers: ServerRegistry;
	/** Where the files are. */
	readonly folder: string;
	/** For each device. */
	readonly maxBytes: number;
	/** Called with each attempt to write, and the error if it failed. */
	readonly onSaved: (error: Error | undefined) => void;
}

/** Keeps what devices of this gateway measure, the states that they are in, and what they log. */
export class History {
	readonly #options: HistoryOptions;
	/** By id. */
	readonly #devices = new Map<string, Promise<DeviceHistory>>();
	/** The series that are open. */
	readonly #opened = new Set<DeviceHistory>();
	readonly #reads = pLimit(MAX_READS);
	readonly #timer: NodeJS.Timeout;
	readonly #listeners: (() => void)[] = [];

	private constructor(options: HistoryOptions) {
		this.#options = options;
		const { servers } = options;
		const follow = (server: Server): void => this.#stateChanged(server);
		this.#on("online", follow);
		this.#on("disconnected", (server, { identity }) => identity.gateway === undefined && follow(server));
		this.#on("notification", (server, method, params, isState) => {
			if (method === "notifications/sensor_changed") {
				this.#measured(server, { sensors: { [String(params.sensor)]: { value: params.value } } });
			} else if (method === "notifications/message") {
				this.#logged(server, params);
			} else if (isState) {
				follow(server);
			}
		});
		this.#on("call", (record, details) => this.#called(servers.find(record.serverId), record, details));
		this.#on("changed", () => this.#forget());
		this.#timer = setInterval(() => this.tick(), MINUTE);
		this.#timer.unref();
	}

	/** Goes on with what the folder has. Files of devices that are not known any more are removed. */
	static async open(options: HistoryOptions): Promise<History> {
		const { folder, servers } = options;
		await mkdir(folder, { recursive: true, mode: 0o700 });
		const history = new History(options);
		const known = new Map(servers.all.map(({ id }) => [keyOf(id), id]));
		for (const name of await readdir(folder)) {
			const id = known.get(name.split(".")[0] as string);
			if (id === undefined) {
				await rm(join(folder, name), { force: true });
			} else {
				await history.#of(id);
			}
		}
		return history;
	}

	/** Bytes on disk. */
	get bytes(): number {
		return [...this.#opened].reduce((sum, device) => sum + device.bytes, 0);
	}

	/** The measurements and states of a device. */
	async read(id: string, span: Span): Promise<HistoryPart> {
		return (await (await this.#devices.get(id))?.read(span)) ?? { values: {}, states: [] };
	}

	/** The newest messages of a device's log, the newest first. */
	async readLog(id: string, span: Span): Promise<readonly LoggedMessage[]> {
		return (await (await this.#devices.get(id))?.readLog(span)) ?? [];
	}

	/** Once a minute: writes what has changed, and reads the status of devices whose last one is old. */
	tick(now = Date.now()): void {
		for (const device of this.#opened) {
			device.flush();
		}
		for (const server of this.#options.servers.all) {
			if (isOwn(server) && server.online) {
				void this.#reads(() => this.#readStatus(server, now));
			}
		}
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		clearInterval(this.#timer);
		this.#listeners.forEach((remove) => void remove());
		this.#reads.clearQueue();
		await Promise.all([...this.#devices.values()].map(async (device) => await (await device).close()));
	}

	#on: ServerRegistry["on"] = (event, listener) => {
		const { servers } = this.#options;
		this.#listeners.push(() => servers.off(event, listener));
		return servers.on(event, listener);
	};

	/** The history of a device, which begins now if it has none. */
	#of(id: string): Promise<DeviceHistory> {
		const known = this.#devices.get(id);
		if (known !== undefined) {
			return known;
		}
		const { folder, maxBytes, onSaved } = this.#options;
		const opening = DeviceHistory.open((kind, first) => {
			const share = kind === "log" ? LOG_SHARE : 1 - LOG_SHARE;
			const path = join(folder, `${keyOf(id)}.${kind}.`);
			return JsonLines.open(path, { maxBytes: maxBytes * share, onSaved, ...(first && { first }) });
		});
		this.#devices.set(id, opening);
		void opening.then(
			(device) => this.#opened.add(device),
			(error) => {
				this.#devices.delete(id);
				onSaved(error);
			},
		);
		return opening;
	}

	/** Does something with the history of a device of this gateway. Configured servers have none. */
	#with(server: Server | undefined, action: (device: DeviceHistory) => void): void {
		if (server?.known && isOwn(server)) {
			// A folder that cannot be read is reported where it is opened.
			this.#of(server.id).then(action, () => {});
		}
	}

	#stateChanged(server: Server): void {
		const state = server.online ? (server.state ?? "online") : "offline";
		this.#with(server, (device) => device.stateChanged(state));
	}

	#measured(server: Server | undefined, status: unknown): void {
		const values = valuesIn(status);
		this.#with(server, (device) => device.measured(values));
	}

	#logged(server: Server, { level, data, logger }: Readonly<Record<string, unknown>>): void {
		const text = typeof data === "string" ? data : JSON.stringify(data ?? null);
		this.#with(server, (device) => {
			const message = logger === undefined ? text : `${logger}: ${text}`;
			device.logged(String(level).slice(0, 16), message).catch((error: Error) => this.#options.onSaved(error));
		});
	}

	/** A status call has ended: its values are kept, whichever client made it. */
	#called(server: Server | undefined, { outcome }: CallRecord, { tool, result }: CallDetails): void {
		if (tool.name === STATUS_TOOL && outcome === "ok" && result !== undefined) {
			this.#measured(server, jsonOf(result));
			this.#with(server, (device) => {
				device.measuredAt = Date.now();
			});
		}
	}

	async #readStatus(server: Server, now: number): Promise<void> {
		const tool = server.tools.find((each) => each.name === STATUS_TOOL && !isUserOnly(each));
		const device = await this.#of(server.id).catch(() => {});
		if (tool !== undefined && device !== undefined && server.online && now - device.measuredAt >= READ_INTERVAL) {
			// The registry tells of the answer, as of answers to clients.
			await server.calls.call(HISTORY_PRINCIPAL, tool, {}).catch(() => {});
		}
	}

	/** Removes what was kept of devices that were forgotten. */
	#forget(): void {
		for (const [id, opening] of this.#devices) {
			if (this.#options.servers.find(id) === undefined) {
				this.#devices.delete(id);
				opening
					.then(async (device) => {
						this.#opened.delete(device);
						await device.remove();
					})
					.catch((error: Error) => this.#options.onSaved(error));
			}
		}
	}
}

/** Whether a server is a device whose last session was with this gateway. */
function isOwn({ configured, session }: Server): boolean {
	return !configured && session?.identity.gateway === undefined;
}

/** The beginning of the names of a device's files. */
function keyOf(id: string): string {
	return createHash("sha256").update(id).digest("hex").slice(0, 32);
}
