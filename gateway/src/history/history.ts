import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { isUserOnly, jsonOf, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import { DeviceHistory, type HistoryPart, type LoggedMessage, type Span } from "./device-history.js";

/** Caller of the status tool in its own name. */
export const HISTORY_PRINCIPAL = "history";

const STATUS_TOOL = "self.get_device_status";

/** Milliseconds for which changed values are collected, and until the status of a quiet device is read. */
const MINUTE = 60_000;
const READ_INTERVAL = 5 * MINUTE;

/** Status reads at the same time. */
const MAX_READS = 16;

/** Characters of the level of a device's message. */
const MAX_LEVEL = 16;

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
	readonly #devices = new Map<string, DeviceHistory>();
	readonly #reads = pLimit(MAX_READS);
	readonly #timer: NodeJS.Timeout;
	readonly #listeners: (() => void)[] = [];

	/** Continues with what the folder has. Files of devices that are not known any more are deleted. */
	constructor(options: HistoryOptions) {
		this.#options = options;
		const { folder, servers } = options;
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const known = new Map(servers.all.map(({ id }) => [keyOf(id), id]));
		for (const name of readdirSync(folder)) {
			const id = known.get(name.split(".")[0] as string);
			if (id === undefined) {
				rmSync(join(folder, name), { force: true });
			} else {
				this.#of(id);
			}
		}
		this.#listen();
		this.#timer = setInterval(() => this.tick(), MINUTE);
		this.#timer.unref();
	}

	/** Bytes on disk. */
	get bytes(): number {
		return [...this.#devices.values()].reduce((sum, device) => sum + device.bytes, 0);
	}

	/** Reads the measurements and states of a device. */
	async read(id: string, span: Span): Promise<HistoryPart> {
		return (await this.#devices.get(id)?.read(span)) ?? { values: {}, states: [] };
	}

	/** Reads the newest messages of a device's log, the newest first. */
	async readLog(id: string, span: Span): Promise<readonly LoggedMessage[]> {
		return (await this.#devices.get(id)?.readLog(span)) ?? [];
	}

	/** Once a minute: writes what has changed, and reads the status of devices whose last one is old. */
	tick(now = Date.now()): void {
		for (const device of this.#devices.values()) {
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
		await Promise.all([...this.#devices.values()].map((device) => device.close()));
	}

	#listen(): void {
		const { servers } = this.#options;
		const on: ServerRegistry["on"] = (event, listener) => {
			this.#listeners.push(() => servers.off(event, listener));
			return servers.on(event, listener);
		};
		on("online", (server) => this.#stateChanged(server));
		on("disconnected", (server, { identity }) => identity.gateway === undefined && this.#stateChanged(server));
		on("notification", (server, method, params, isState) => {
			if (method === "notifications/sensor_changed") {
				this.#of(server)?.measured({ sensors: { [String(params.sensor)]: { value: params.value } } });
			} else if (method === "notifications/message") {
				const { level, data = null, logger } = params;
				const text = typeof data === "string" ? data : JSON.stringify(data);
				const message = logger === undefined ? text : `${logger}: ${text}`;
				this.#of(server)?.logged(String(level).slice(0, MAX_LEVEL), message);
			} else if (isState) {
				this.#stateChanged(server);
			}
		});
		// The values of a status call are kept, whichever client made it.
		on("call", ({ serverId, outcome }, { tool, result }) => {
			const device = this.#of(servers.find(serverId));
			if (device !== undefined && tool.name === STATUS_TOOL && outcome === "ok" && result !== undefined) {
				device.measured(jsonOf(result));
				device.measuredAt = Date.now();
			}
		});
		on("changed", () => this.#forget());
	}

	/** The history of a known device of this gateway, which begins now if it has none. Configured servers have none. */
	#of(server: Server | string | undefined): DeviceHistory | undefined {
		if (typeof server !== "string" && !(server?.known && isOwn(server))) {
			return undefined;
		}
		const id = typeof server === "string" ? server : server.id;
		const { folder, maxBytes, onSaved } = this.#options;
		const device = this.#devices.get(id) ?? new DeviceHistory(join(folder, keyOf(id)), maxBytes, onSaved);
		this.#devices.set(id, device);
		return device;
	}

	#stateChanged(server: Server): void {
		this.#of(server)?.stateChanged(server.online ? (server.state ?? "online") : "offline");
	}

	async #readStatus(server: Server, now: number): Promise<void> {
		const tool = server.tools.find((each) => each.name === STATUS_TOOL && !isUserOnly(each));
		const device = this.#of(server);
		if (tool !== undefined && device !== undefined && server.online && now - device.measuredAt >= READ_INTERVAL) {
			// The registry reports the answer, as it reports answers to clients.
			await server.calls.call(HISTORY_PRINCIPAL, tool, {}).catch(() => {});
		}
	}

	/** Deletes what was kept of devices that were forgotten. */
	#forget(): void {
		for (const [id, device] of this.#devices) {
			if (this.#options.servers.find(id) === undefined) {
				this.#devices.delete(id);
				device.remove().catch((error: Error) => this.#options.onSaved(error));
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
