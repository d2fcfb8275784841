import { LRUCache } from "lru-cache";
import { jsonOf, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import { DEVICE_EVENTS } from "../firmware.js";
import { isReading, isStatusTool, readStatus, statusAfter } from "../history/history.js";

/** Bytes of all statuses as JSON, and of one. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_STATUS = 64 * 1024;

/** Devices whose last reading is remembered. */
const MAX_DEVICES = 10_000;

/** Milliseconds after a change until the status is read, and between readings of values that are not reported, such as the battery. */
const READ_DELAY = 300;
const READ_INTERVAL = 15_000;

type Parts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Keeps the last status of each device, as any client has read it and notifications have changed it. Devices that a page shows are
 * read after each change.
 *
 * @param isShown whether a page shows a device
 * @param onChange called with the id of a device that has another status
 */
export function followStatuses(
	servers: ServerRegistry,
	isShown: (id: string) => boolean,
	onChange: (id: string) => void,
) {
	const statuses = new LRUCache<string, Readonly<Record<string, unknown>>>({
		maxSize: MAX_BYTES,
		maxEntrySize: MAX_STATUS,
		sizeCalculation: (status) => JSON.stringify(status).length,
	});
	const askedAt = new LRUCache<string, number>({ max: MAX_DEVICES });
	/** The changes after which a device is read, by its id. */
	const changes = new Map<string, { readonly time: number; readonly timer: NodeJS.Timeout }>();

	const read = (server: Server): void => {
		if (readStatus(server)) {
			askedAt.set(server.id, Date.now());
		}
	};
	const readSoon = (server: Server): void => {
		const { id } = server;
		if (isShown(id) && !changes.has(id)) {
			const timer = setTimeout(() => {
				changes.delete(id);
				// The status that is being read may be from before the change.
				(isReading(server) ? readSoon : read)(server);
			}, READ_DELAY).unref();
			changes.set(id, { time: Date.now(), timer });
		}
	};
	const set = (id: string, status: Readonly<Record<string, unknown>>): void => {
		statuses.set(id, status);
		onChange(id);
	};

	servers.on("online", ({ id }) => askedAt.delete(id));
	servers.on("notification", (server, method, params, isState) => {
		const [[plural, parts] = ["", {}]] = Object.entries(statusAfter(method, params) ?? {}) as [string, Parts][];
		const status = statuses.get(server.id);
		const known = status?.[plural] as Parts | undefined;
		const [[name, values] = ["", {}]] = Object.entries(parts);
		if (known?.[name] !== undefined) {
			set(server.id, { ...status, [plural]: { ...known, [name]: { ...known[name], ...values } } });
		} else if (isState || DEVICE_EVENTS.some(({ notification }) => notification === method)) {
			readSoon(server);
		}
	});
	servers.on("call", ({ serverId: id, outcome, duration }, { server, tool, result }) => {
		if (outcome !== "ok") {
			return;
		}
		const isStatus = isStatusTool(tool);
		const status = isStatus && result && jsonOf(result);
		if (typeof status === "object" && status !== null) {
			const change = changes.get(id);
			if (change !== undefined && Date.now() - duration >= change.time) {
				clearTimeout(change.timer);
				changes.delete(id);
			}
			askedAt.set(id, Date.now());
			set(id, status as Readonly<Record<string, unknown>>);
		} else if (!isStatus && tool.annotations?.readOnlyHint !== true && isShown(id)) {
			readSoon(server);
		}
	});
	return {
		/** Returns the last status of a device; undefined if it is not known. */
		get: (id: string) => statuses.get(id),
		/** Reads the devices that a page shows, unless their last reading is recent. */
		refresh(ids: Iterable<string>): void {
			const due = Date.now() - READ_INTERVAL;
			for (const server of [...ids].flatMap((id) => servers.find(id) ?? [])) {
				if ((askedAt.get(server.id) ?? 0) <= due) {
					read(server);
				}
			}
		},
	};
}
