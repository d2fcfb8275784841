import { LRUCache } from "lru-cache";
import { DEVICE_EVENTS, type DeviceEvent } from "xs-mcp-firmware/hardware/vocabulary";
import { type Connection, RateLimit, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import type { FirmwareUpdates } from "../devices/firmware/firmware-updates.js";
import type { EventLog, LoggedEvent } from "./event-log.js";
import { findEventType, LOST } from "./event-types.js";

/** Characters of a notification's params, as JSON: the registry's limit for what it tells clients. */
const MAX_PARAMS = 1_024;

/** The reason with which the registry ends every session when it is closed. */
const SHUTTING_DOWN = "shutting down";

/** Rate limit of a device's events, so that none displaces those of others, and devices that are counted. */
const MAX_PER_SECOND = 20;
const MAX_BURST = 200;
const MAX_DEVICES = 10_000;

/** Milliseconds in which gateways of a cluster that find a configured server online report the same. */
const SAME_MOMENT = 10_000;

const MAX_SENSORS = 100_000;

const EVENTS: ReadonlyMap<string, DeviceEvent> = new Map(DEVICE_EVENTS.map((event) => [event.notification, event]));

type Params = Readonly<Record<string, unknown>>;

/** Writes to the log what devices report, and what the gateway knows of them. */
export function recordEvents(log: EventLog, servers: ServerRegistry, updates: FirmwareUpdates): void {
	/** The last value of each sensor, by device and sensor: an event tells whether a limit was crossed. */
	const values = new LRUCache<string, { readonly value: unknown }>({ max: MAX_SENSORS });
	/** Returns the data of a sensor's event, with the value of the event before: of this process, the one before, or another gateway. */
	const withPrevious = (device: string, event: string, part: string, data: Params): Params => {
		const key = JSON.stringify([device, event, data[part]]);
		const isBefore = ({ name, device: of, data: logged }: LoggedEvent): boolean =>
			name === event && of === device && logged[part] === data[part];
		const previous = (values.get(key) ?? log.after(0).filter(isBefore).at(-1)?.data)?.value;
		values.set(key, { value: data.value });
		return previous === undefined ? data : { ...data, previous };
	};
	/** Rate limits by device, and whether its last event was not kept. */
	const limits = new LRUCache<string, { readonly rate: RateLimit; isLosing: boolean }>({
		max: MAX_DEVICES,
		memoMethod: () => ({ rate: new RateLimit(MAX_PER_SECOND, MAX_BURST), isLosing: false }),
	});
	const append = (name: string, { id, alias, configured }: Server, params: Params): void => {
		// The device's message may have another shape.
		const data = findEventType(name)?.payload.safeParse({ ...params, device: alias }).data;
		const limit = limits.memo(id);
		if (data === undefined) {
			servers.reject(`${id}: not an event ${name}`);
		} else if (limit.rate.take()) {
			// Every gateway of a cluster is connected to a configured server.
			const moment = Math.floor(Date.now() / SAME_MOMENT);
			log.append({ name, device: id, data }, configured ? JSON.stringify([name, id, moment]) : undefined);
			limit.isLosing = false;
		} else {
			if (!limit.isLosing) {
				limit.isLosing = true;
				log.append({ name: LOST, device: id, data: {} });
			}
			servers.reject(`${id}: too many events (limit ${MAX_PER_SECOND} a second)`);
		}
	};
	servers.on("notification", (server, method, params) => {
		const event = EVENTS.get(method);
		// A server may speak before it has a name by which clients know it.
		if (
			event === undefined ||
			!server.known ||
			isElsewhere(server.connection) ||
			JSON.stringify(params).length > MAX_PARAMS
		) {
			return;
		}
		const { _meta: _, ...said } = params;
		const { name, kind, sources } = event;
		const data: Params =
			sources === undefined
				? said
				: Object.fromEntries(event.data.map(({ name: member }) => [member, said[sources[member] ?? member]]));
		const hasReading = event.data.some(({ type }) => type === "reading");
		append(name, server, kind && hasReading ? withPrevious(server.id, name, kind.name, data) : data);
	});
	servers.on("online", (server) => {
		if (!isElsewhere(server.connection)) {
			append("device.online", server, { firmware: server.board.version });
		}
	});
	servers.on("disconnected", (server, connection, reason) => {
		// One that has reconnected is not offline, and a gateway that stops alone says nothing of its devices.
		const isOver = server.known && !isElsewhere(connection);
		if (
			isOver &&
			(reason !== SHUTTING_DOWN || log.isShared) &&
			(server.connection === undefined || server.connection === connection)
		) {
			append("device.offline", server, { reason });
		}
	});
	updates.on("update", ({ device, step, version, running }) => {
		const server = servers.find(device);
		if (server !== undefined) {
			append("firmware.updated", server, { step, version, running });
		}
	});
}

/** Whether a device is connected to another gateway, which records its events. */
function isElsewhere(connection: Connection | undefined): boolean {
	return connection?.identity.gateway !== undefined;
}
