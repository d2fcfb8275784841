import * as z from "zod";

/** Name in the log for events of a device that were not kept, because there were too many. */
export const LOST = "gateway.lost";

/** An event in the log. */
export interface GatewayOccurrence {
	/** The name of its type. */
	readonly name: string;
	/** The device's id. */
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

/** Arguments that every type has. */
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

/** Every type, in the order in which they are listed. */
export const EVENT_TYPES: readonly EventType[] = [
	{
		name: "button.pressed",
		title: "Button pressed",
		description: "A button of a device was pressed.",
		input: input({
			button: z.string().max(64).optional().describe("Only this button"),
			long: z.boolean().optional().describe("Only long, or only short presses"),
		}),
		payload: payload({ button: z.string(), long: z.boolean(), milliseconds: z.number().optional() }),
	},
	{
		name: "sensor.changed",
		title: "Sensor changed",
		description:
			"A sensor of a device measured something noticeably different. With above or below: it crossed that value.",
		input: input({
			sensor: z.string().max(64).optional().describe("Only the sensor with this name"),
			kind: z.string().max(64).optional().describe("Only sensors of this kind, such as temperature"),
			above: z.number().optional().describe("Only when the value rises above this one"),
			below: z.number().optional().describe("Only when the value falls below this one"),
		}),
		payload: payload({
			sensor: z.string(),
			kind: z.string().optional(),
			value: reading,
			unit: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
			previous: reading.optional().describe("The value of the event before"),
		}),
		matches: (data, { above, below, ...equal }) =>
			hasMembers(data, equal) &&
			((above === undefined && below === undefined) ||
				crosses(data, above, (value, limit) => value > limit) ||
				crosses(data, below, (value, limit) => value < limit)),
	},
	{
		name: "switch.changed",
		title: "Switch changed",
		description:
			"A switch of a device was turned on or off: by a call, by its own limit, or because its session ended.",
		input: input({
			switch: z.string().max(64).optional().describe("Only the switch with this name"),
			on: z.boolean().optional().describe("Only when it was turned on, or off"),
		}),
		payload: payload({ switch: z.string(), on: z.boolean(), cause: z.string().optional() }),
	},
	{
		name: "line.received",
		title: "Line received",
		description: "A line of text arrived at a serial port of a device.",
		input: input({ line: z.string().max(64).optional().describe("Only the serial line with this name") }),
		payload: payload({ line: z.string(), text: z.string() }),
	},
	{
		name: "timer.due",
		title: "Timer due",
		description: "A timer or an alarm of a device is due.",
		input: input(),
		payload: payload({ id: z.unknown(), text: z.string().optional() }),
	},
	{
		name: "device.event",
		title: "Event of a device",
		description: "A device reported an event of its own, which its maker has named.",
		input: input({ event: z.string().max(64).optional().describe("Only the event with this name") }),
		payload: payload({ event: z.string(), data: z.unknown().optional() }),
	},
	{
		name: "conversation.said",
		title: "Said in a conversation",
		description: "Somebody talked to a device, or its assistant answered.",
		needs: "userTools",
		input: input({ role: z.enum(["user", "assistant"]).optional().describe("Only what this one said") }),
		payload: payload({ role: z.string(), text: z.string() }),
	},
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
		name: "device.state",
		title: "State changed",
		description: "A device changed its state, such as from idle to speaking.",
		input: input({ state: z.string().max(64).optional().describe("Only when the device enters this state") }),
		payload: payload({ state: z.string(), previous: z.string().optional() }),
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

/** Whether a value is beyond a limit, and the one before was not. A sensor with several values crosses none. */
function crosses(
	{ value, previous }: GatewayOccurrence["data"],
	limit: unknown,
	isBeyond: (value: number, limit: number) => boolean,
): boolean {
	return (
		typeof limit === "number" &&
		typeof value === "number" &&
		isBeyond(value, limit) &&
		!(typeof previous === "number" && isBeyond(previous, limit))
	);
}
