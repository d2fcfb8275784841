import * as z from "zod";
import { DEVICE_EVENTS, type DeviceEvent, type MemberType } from "../firmware.js";

/** Name in the log for events of a device that were not kept, because there were too many. */
export const LOST = "gateway.lost";

/** An event in the log. */
export interface GatewayOccurrence {
	/** The name of its type. */
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
export function hasMembers(data: GatewayOccurrence["data"], members: Readonly<Record<string, unknown>>): boolean {
	return Object.entries(members).every(([name, value]) => value === undefined || data[name] === value);
}

/** Whether a value is beyond a limit in a direction, and the one before was not. A sensor with several values crosses none. */
function crosses({ value, previous }: GatewayOccurrence["data"], limit: unknown, direction = "above"): boolean {
	const isBeyond = (each: unknown): boolean =>
		typeof each === "number" && typeof limit === "number" && (direction === "above" ? each > limit : each < limit);
	return isBeyond(value) && !isBeyond(previous);
}
