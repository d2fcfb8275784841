import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { MemberType } from "xs-mcp-firmware/hardware/kinds/part-kind";
import { DEVICE_EVENTS, type DeviceEvent } from "xs-mcp-firmware/hardware/vocabulary";
import type { ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import { type Access, hasUserTools, mayListen, reaches } from "../config/access.js";
import { readParams } from "../mcp/client-request.js";
import type { EventQuery } from "./event-feed.js";
import type { LoggedEvent } from "./event-log.js";

/** Name in the log for events of a device that were not kept, because there were too many. */
export const LOST = "gateway.lost";

/** An event in the log. */
export interface GatewayOccurrence {
	readonly name: string;
	readonly device: string;
	/** Data in the form of the type's `payload`, with the device's alias. */
	readonly data: Readonly<Record<string, unknown>>;
	/** When it happened, ISO 8601. Default: now. */
	readonly timestamp?: string;
}

/** A kind of events that clients can subscribe to: SEP-3415, "Listing Available Events". */
export interface EventType {
	readonly name: string;
	readonly title: string;
	readonly description: string;
	/** Only clients with this permission get it: they see a device's user-only tools, or may listen with its microphone. */
	readonly needs?: "userTools" | "microphone";
	/** Whether it is recorded only while a client subscribes to it. */
	readonly isOnDemand?: true;
	/** The arguments of a subscription. */
	readonly input: z.ZodObject;
	readonly payload: z.ZodObject;
	/** Whether an event is one that the arguments ask for, apart from `device`, `tag` and `pause`. Default: by equal members. */
	readonly matches?: (data: GatewayOccurrence["data"], args: Readonly<Record<string, unknown>>) => boolean;
}

const COMMON = {
	device: z.string().max(256).optional().describe("Alias or id: only this device"),
	tag: z.string().max(64).optional().describe("Only devices with this tag, such as a room"),
	pause: z
		.int()
		.min(1)
		.max(86_400)
		.optional()
		.describe("Seconds: at most one event of each device in each span of this length"),
};

/** The arguments that {@link COMMON} describes, once they were checked. */
export type CommonArguments = z.output<z.ZodObject<typeof COMMON>>;

const DEVICE = { device: z.string().describe("The device's alias") };

const input = <Shape extends z.ZodRawShape>(shape: Shape = {} as Shape) => z.strictObject({ ...COMMON, ...shape });
const payload = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject({ ...DEVICE, ...shape });

const value = z.union([z.number(), z.boolean()]);
const reading = z.union([value, z.record(z.string(), value)]);

/** Schemas of the values in an event. */
const VALUES: Readonly<Record<MemberType, z.ZodType>> = {
	any: z.unknown(),
	boolean: z.boolean(),
	color: z.string(),
	integer: z.number(),
	number: z.number(),
	reading,
	string: z.string(),
	unit: z.union([z.string(), z.record(z.string(), z.string())]),
};

/** Schemas of the arguments by which a subscription is limited. */
const FILTERS = { boolean: z.boolean(), number: z.number(), string: z.string().max(64) };

/** The type of a device's event. Events with a reading also have the one before. */
function typeOf({ name, title, description, filters, data, isPersonal }: DeviceEvent): EventType {
	const args = Object.entries(filters).map(([filter, { type, description: about, choices }]) => {
		const schema = choices === undefined ? FILTERS[type] : z.enum(choices as [string, ...string[]]);
		return [filter, schema.optional().describe(about)] as const;
	});
	const values = data.map(({ name: member, type, isOptional }): [string, z.ZodType] => {
		const schema = VALUES[type];
		return [member, isOptional ? schema.optional() : schema];
	});
	const hasReading = data.some(({ type }) => type === "reading");
	return {
		name,
		title,
		description,
		...(isPersonal && { needs: "userTools" }),
		input: input(Object.fromEntries(args)),
		payload: payload({
			...Object.fromEntries(values),
			...(hasReading && { previous: reading.optional().describe("The value of the event before") }),
		}),
		matches: (event, args) => {
			const asked = Object.entries(args).filter(([, wanted]) => wanted !== undefined);
			const isLimit = ([filter]: readonly [string, unknown]): boolean => filters[filter]?.crosses !== undefined;
			const limits = asked.filter(isLimit);
			const isCrossed = limits.some(([limit, number]) => crosses(event, number, filters[limit]?.crosses));
			const equal = Object.fromEntries(asked.filter((each) => !isLimit(each)));
			return hasMembers(event, equal) && (limits.length === 0 || isCrossed);
		},
	};
}

/** Every type, in the order in which they are listed: those of devices, then those of the gateway. */
export const EVENT_TYPES: readonly EventType[] = [
	...DEVICE_EVENTS.map(typeOf),
	{
		name: "speech.heard",
		title: "Speech heard",
		description:
			"Somebody spoke to a device that had begun to listen, after a press of its button or its wake word. Answer with say or ask.",
		needs: "microphone",
		isOnDemand: true,
		input: input(),
		payload: payload({ text: z.string() }),
	},
	{
		name: "device.online",
		title: "Device online",
		description: "A device or another server connected to the gateway.",
		input: input(),
		payload: payload({ firmware: z.string().optional() }),
	},
	{
		name: "device.offline",
		title: "Device offline",
		description: "A device or another server disconnected from the gateway.",
		input: input(),
		payload: payload({ reason: z.string() }),
	},
	{
		name: "firmware.updated",
		title: "Firmware update",
		description: "Firmware was offered to a device, downloaded, confirmed, or rolled back.",
		input: input({
			step: z.enum(["offered", "downloaded", "confirmed", "rolled-back"]).optional().describe("Only this step"),
		}),
		payload: payload({ step: z.string(), version: z.string().optional(), running: z.string().optional() }),
	},
];

/** Finds a type by its name. */
export function findEventType(name: string): EventType | undefined {
	return EVENT_TYPES.find((type) => type.name === name);
}

/** Whether the data has each of these members; members that are undefined are not asked for. */
function hasMembers(data: GatewayOccurrence["data"], members: Readonly<Record<string, unknown>>): boolean {
	return Object.entries(members).every(([name, value]) => value === undefined || data[name] === value);
}

/** Whether a value is beyond a limit in a direction, and the one before was not. A sensor with several values crosses none. */
function crosses({ value, previous }: GatewayOccurrence["data"], limit: unknown, direction = "above"): boolean {
	const isBeyond = (each: unknown): boolean =>
		typeof each === "number" && typeof limit === "number" && (direction === "above" ? each > limit : each < limit);
	return isBeyond(value) && !isBeyond(previous);
}

/** The subscriber: its rights, and its path. */
export interface Viewer {
	readonly access: Access;
	/** Alias or id: only this server. Undefined: all servers. */
	readonly server: string | undefined;
}

/**
 * The events of a type that a subscription asks for, of those devices that the subscriber may reach.
 *
 * @param current returns undefined once the subscriber's token is not valid
 * @param server alias or id: only this server
 * @throws ProtocolError that names the argument that is wrong
 */
export function queryFor(
	type: EventType,
	args: Readonly<Record<string, unknown>>,
	servers: ServerRegistry,
	current: () => Access | undefined,
	server: string | undefined,
): EventQuery {
	const checked = readParams(z.object({ arguments: type.input }), { arguments: args }).arguments;
	const { device, tag, pause, ...others } = checked as CommonArguments & Record<string, unknown>;
	const matchesQuery = ({ name, device: id, data }: LoggedEvent): boolean =>
		(name === type.name || name === LOST) &&
		(device === undefined || device === id || servers.find(device)?.id === id) &&
		(tag === undefined || servers.find(id)?.tags.includes(tag) === true) &&
		(name === LOST || (type.matches?.(data, others) ?? hasMembers(data, others)));
	const maySee = (id: string): boolean => {
		const access = current();
		const isHere = server === undefined || servers.find(server)?.id === id;
		return access !== undefined && isHere && reaches(access, id) && isAllowed(type, access, id);
	};
	return { pause, matches: (event) => matchesQuery(event) && maySee(event.device) };
}

/** Whether a client has the permission that a type needs: at a device, or at any. */
export function isAllowed({ needs }: EventType, access: Access, device?: string): boolean {
	if (needs === "userTools") {
		return device === undefined ? access.userTools !== false : hasUserTools(access, device);
	}
	return needs === undefined || mayListen(access);
}

/** Codes of SEP-3415, "Error Codes". */
const CODES = {
	notFound: -32023,
	forbidden: -32024,
	exhausted: -32025,
	unsupported: -32026,
	callback: -32027,
} as const;

export function invalid(message: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Returns the error for an event type that does not exist. */
export function unknownEvent(name: string): ProtocolError {
	return new ProtocolError(CODES.notFound, `Unknown event: ${name}`, { kind: "event" });
}

/** Returns the error for a request that the client may not make. */
export function forbidden(message: string): ProtocolError {
	return new ProtocolError(CODES.forbidden, message);
}

/** Returns the error for a limit that is reached. */
export function exhausted(limit: string, max: number): ProtocolError {
	return new ProtocolError(CODES.exhausted, `too many ${limit} (limit ${max})`, { limit, max });
}

/** Returns the error for a way of delivery that is not offered. */
export function unsupported(mode: string): ProtocolError {
	const message = `delivery.mode: ${mode} is not supported`;
	return new ProtocolError(CODES.unsupported, message, { feature: "deliveryMode", value: mode });
}

/** Reason why a callback cannot be used. Its response is never disclosed. */
export type CallbackProblem =
	| "connection_refused"
	| "timeout"
	| "tls_error"
	| "http_4xx"
	| "http_5xx"
	| "challenge_failed";

/** Returns the error for an endpoint that failed its verification. */
export function callbackFailed(reason: CallbackProblem): ProtocolError {
	return new ProtocolError(CODES.callback, `delivery.url: ${reason}`, { reason });
}
