import { EventEmitter } from "node:events";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { DEVICE_EVENTS } from "xs-mcp-firmware/hardware/vocabulary";
import { isUserOnly, jsonOf, type Server, type ServerRegistry, type ServerTool } from "xs-mcp-manager/core";

/** Caller of the status tool in the gateway's own name. */
export const STATUS_PRINCIPAL = "history";

/** Milliseconds that a device has to report its status. */
const READ_TIME = 10_000;

/** Bytes of all statuses as JSON, and of one. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_STATUS = 64 * 1024;

/** Devices whose last request is remembered. */
const MAX_DEVICES = 10_000;

/** Milliseconds after a change until the status is read, and between readings of values that are not reported, such as the battery. */
const READ_DELAY = 300;
const READ_INTERVAL = 15_000;

/** Devices that are read at the same time after changes: thousands may change at once. */
const MAX_READS = 64;

/** The status of a device, or some of its members: values by section, or parts by kind and name. */
export type DeviceStatus = Readonly<Record<string, unknown>>;

interface StatusEvents {
	/** A device has reported its status, or one part. `whole` is undefined if the rest is not known. */
	reported: [server: Server, reported: DeviceStatus, whole: DeviceStatus | undefined];
	/** A request for the status has ended, or the device has no tool for it. */
	read: [server: Server, problem?: Error];
}

/** Returns the tool that reads the status of a device: the one of this firmware, else the first whose name ends as that does. */
export function statusToolOf({ tools }: Pick<Server, "tools">): ServerTool | undefined {
	return (
		tools.find(({ name }) => name === "self.get_device_status") ??
		tools.find(({ name }) => /(^|[._])get_device_status$/.test(name))
	);
}

/** The last statuses of devices. */
export type DeviceStatuses = ReturnType<typeof followStatuses>;

/** Keeps the last status of each device, as any client has read it and notifications have changed it. */
export function followStatuses(servers: ServerRegistry) {
	const events = new EventEmitter<StatusEvents>();
	const statuses = new LRUCache<string, DeviceStatus>({
		maxSize: MAX_BYTES,
		maxEntrySize: MAX_STATUS,
		sizeCalculation: (status) => JSON.stringify(status).length,
	});
	const askedAt = new LRUCache<string, number>({ max: MAX_DEVICES });
	/** The changes after which a device is read, by its id. */
	const changes = new Map<string, { readonly time: number; readonly timer: NodeJS.Timeout }>();
	/** Devices whose status is being read. */
	const reading = new WeakSet<Server>();
	const limit = pLimit(MAX_READS);
	/** A device is read after each change if any of these returns true. */
	const conditions: ((server: Server) => boolean)[] = [];

	/**
	 * Reads the status of a device, one request at a time. Other devices are read meanwhile, so a silent one delays nobody. The
	 * registry reports the answer, as it reports answers to clients.
	 *
	 * @returns the end of the request, which never rejects. Undefined if the device is offline, has no such tool, or is being read
	 */
	const read = (server: Server): Promise<void> | undefined => {
		const tool = statusToolOf(server);
		if (!server.online || reading.has(server)) {
			return undefined;
		}
		if (tool === undefined || isUserOnly(tool)) {
			events.emit("read", server);
			return undefined;
		}
		reading.add(server);
		askedAt.set(server.id, Date.now());
		const ended = (problem?: Error): void => {
			reading.delete(server);
			events.emit("read", server, problem);
		};
		return server.call(tool, {}, { principal: STATUS_PRINCIPAL, timeout: READ_TIME }).then(() => ended(), ended);
	};
	/** Reads a device that has changed: soon if a condition applies, else by {@link refresh}. */
	const readChanged = (server: Server): void => {
		const { id } = server;
		if (!conditions.some((isMet) => isMet(server))) {
			askedAt.delete(id);
		} else if (!changes.has(id)) {
			const readNow = (): unknown => {
				const isStale = changes.delete(id);
				// The status that is being read may be from before the change.
				return isStale && (reading.has(server) ? readChanged : read)(server);
			};
			const timer = setTimeout(() => void limit(readNow), READ_DELAY).unref();
			changes.set(id, { time: Date.now(), timer });
		}
	};

	servers.on("online", readChanged);
	servers.on("notification", (server, method, params, isState) => {
		const part = reportedPart(method, params);
		const whole = part && withPart(statuses.get(server.id), part);
		if (whole !== undefined) {
			statuses.set(server.id, whole);
		} else if (isState || DEVICE_EVENTS.some(({ notification }) => notification === method)) {
			readChanged(server);
		}
		if (part !== undefined) {
			events.emit("reported", server, { [part.plural]: { [part.name]: part.values } }, whole);
		}
	});
	servers.on("call", ({ serverId: id, outcome, duration }, { server, tool, result }) => {
		const isStatus = tool.name === statusToolOf(server)?.name;
		const status = isStatus && outcome === "ok" && result && jsonOf(result);
		if (isObject(status)) {
			const change = changes.get(id);
			if (change !== undefined && Date.now() - duration >= change.time) {
				clearTimeout(change.timer);
				changes.delete(id);
			}
			askedAt.set(id, Date.now());
			statuses.set(id, status);
			events.emit("reported", server, status, status);
		} else if (!isStatus && tool.annotations?.readOnlyHint !== true) {
			// A call that has failed may have changed the device, too.
			readChanged(server);
		}
	});
	return Object.assign(events, {
		/** Returns the last status of a device; undefined if it is not known. */
		get: (id: string) => statuses.get(id),
		/** Reads a device soon after each change for which the condition applies. */
		readAfterChanges: (isMet: (server: Server) => boolean): void => void conditions.push(isMet),
		read,
		readChanged,
		/** Reads these devices, unless their last reading is recent. */
		refresh(ids: Iterable<string>): void {
			const due = Date.now() - READ_INTERVAL;
			for (const server of [...ids].flatMap((id) => servers.find(id) ?? [])) {
				if ((askedAt.get(server.id) ?? 0) <= due) {
					void read(server);
				}
			}
		},
	});
}

/** Some values of a part in a status. */
type ReportedPart = NonNullable<ReturnType<typeof reportedPart>>;

/** Returns the values that a notification reports; undefined if it reports none. */
function reportedPart(method: string, params: Readonly<Record<string, unknown>>) {
	const { kind, data } = DEVICE_EVENTS.find(({ notification }) => notification === method) ?? {};
	const reported = kind?.status.filter(({ name }) => name in params && data?.some((member) => member.name === name));
	const name = kind && params[kind.name];
	if (kind === undefined || typeof name !== "string" || !reported?.length) {
		return undefined;
	}
	const values = Object.fromEntries(reported.map(({ name }) => [name, params[name]]));
	return { plural: kind.plural, name, values };
}

/** Returns a status with other values of a part; undefined if it has no such part. */
function withPart(status: DeviceStatus | undefined, { plural, name, values }: ReportedPart): DeviceStatus | undefined {
	const parts = status?.[plural];
	const known = isObject(parts) ? parts[name] : undefined;
	return isObject(parts) && isObject(known)
		? { ...status, [plural]: { ...parts, [name]: { ...known, ...values } } }
		: undefined;
}
