import { type Listed, listed } from "../mcp_server/paged-list.js";
import { deepFreeze } from "../text/deep-freeze.js";

/** Events that are kept. */
export const MAX_EVENTS = 32;

/** Characters of an event's data as JSON. */
export const MAX_DATA = 512;

/** A kind of events that clients can poll: SEP-3415, "Listing Available Events". The gateway's types have the same names and data. */
export interface EventType {
	readonly name: string;
	readonly description: string;
	/** The argument of a poll, which selects events with the same value in their data. Undefined: the type takes no argument. */
	readonly argument?: string;
	/** Members of the data, and the JSON type of each; empty if there are several. */
	readonly members: Readonly<Record<string, "string" | "boolean" | "number" | "">>;
	/** Members that have another name in the notification's params. */
	readonly sources?: Readonly<Record<string, string>>;
}

/** The types, by the notification of the device that they are made of. */
export const EVENT_TYPES: Readonly<Record<string, EventType>> = deepFreeze({
	"notifications/button_pressed": {
		name: "button.pressed",
		description: "A button of the device was pressed.",
		argument: "button",
		members: { button: "string", long: "boolean", milliseconds: "number" },
	},
	"notifications/sensor_changed": {
		name: "sensor.changed",
		description: "A sensor of the device measured something noticeably different.",
		argument: "sensor",
		members: { sensor: "string", kind: "string", value: "", unit: "", previous: "" },
	},
	"notifications/switch_changed": {
		name: "switch.changed",
		description: "A switch of the device was turned on or off.",
		argument: "switch",
		members: { switch: "string", on: "boolean", cause: "string" },
	},
	"notifications/line_received": {
		name: "line.received",
		description: "A line of text arrived at a serial port of the device.",
		argument: "line",
		members: { line: "string", text: "string" },
	},
	"notifications/timer_due": {
		name: "timer.due",
		description: "A timer or an alarm of the device is due.",
		members: { id: "", text: "string" },
	},
	"notifications/event": {
		name: "device.event",
		description: "A tool reported an event of its own.",
		argument: "event",
		members: { event: "string", data: "" },
		sources: { event: "name" },
	},
	"notifications/state_changed": {
		name: "device.state",
		description: "The device changed its state, such as from idle to speaking.",
		argument: "state",
		members: { state: "string", previous: "string" },
		sources: { state: "newState", previous: "oldState" },
	},
});

/** Finds a type by its name. */
export const findEventType = (name: string): EventType | undefined =>
	Object.values(EVENT_TYPES).find((type) => type.name === name);

/** The types as a client lists them. */
export const listEventTypes = (): readonly Listed[] =>
	Object.values(EVENT_TYPES).map(({ name, description, argument, members }) => {
		const own = argument === undefined ? [] : [argument];
		const types = Object.entries(members).map(([member, type]) => [member, type === "" ? {} : { type }]);
		return listed(name, {
			name,
			description,
			delivery: ["poll"],
			inputSchema: {
				type: "object",
				properties: Object.fromEntries(own.map((member) => [member, { type: "string" }])),
				additionalProperties: false,
			},
			payloadSchema: {
				type: "object",
				properties: { device: { type: "string" }, ...Object.fromEntries(types) },
				required: ["device", ...own],
			},
		});
	});
