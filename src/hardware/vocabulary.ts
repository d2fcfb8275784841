// Texts about parts and events, for clients, the gateway and the docs. No device imports them.
import { deepFreeze } from "../core/text/deep-freeze.js";
import { type KindName, PART_KINDS } from "./kinds/index.js";
import { type Member, notificationOf, type PartKind } from "./kinds/part-kind.js";
import { rule } from "./rules.js";

/** Every kind of parts: those of every build, and those that features add. */
export const ALL_KINDS: typeof PART_KINDS = deepFreeze([...PART_KINDS, rule]);

/** Argument by which a client limits its subscription to some events of a type. */
interface EventFilter {
	readonly type: "string" | "boolean" | "number";
	readonly description: string;
	/** The only values of a string. */
	readonly choices?: readonly string[];
	/** Whether the event's reading must have crossed this number in a direction. Default: a value of the event equals it. */
	readonly crosses?: "above" | "below";
}

/** Type of events that devices report. */
export interface DeviceEvent {
	readonly name: string;
	readonly title: string;
	readonly description: string;
	/** Method of the notification. */
	readonly notification: string;
	readonly filters: Readonly<Record<string, EventFilter>>;
	readonly data: readonly Member[];
	/** Names of the notification's params that differ from those in the data. */
	readonly sources?: Readonly<Record<string, string>>;
	/** The kind of the parts whose event it is. */
	readonly kind?: PartKind;
	/** Whether it reveals what people say, and is only for clients that see a device's user-only tools. */
	readonly isPersonal?: true;
}

/** Texts of kinds' events that differ from the generated ones. */
const TEXTS: Readonly<Partial<Record<KindName, Partial<Pick<DeviceEvent, "description" | "filters">>>>> = {
	button: {
		description: "A button of a device was pressed.",
		filters: {
			button: { type: "string", description: "Only this button" },
			long: { type: "boolean", description: "Only long, or only short presses" },
		},
	},
	sensor: {
		description:
			"A sensor of a device measured something noticeably different. With above or below: it crossed that value.",
		filters: {
			kind: { type: "string", description: "Only sensors of this kind, such as temperature" },
			above: { type: "number", description: "Only when the value rises above this one", crosses: "above" },
			below: { type: "number", description: "Only when the value falls below this one", crosses: "below" },
		},
	},
	switch: {
		description:
			"A switch of a device was turned on or off: by a call, by its own limit, or because its session ended.",
	},
	line: {
		description: "A line of text arrived at a serial port of a device.",
		filters: { line: { type: "string", description: "Only the serial line with this name" } },
	},
};

/** Defines a type of events. Its title and notification are derived from its name by default. */
const defineEvent = (
	event: Omit<DeviceEvent, "title" | "notification" | "filters"> & Partial<DeviceEvent>,
): DeviceEvent => {
	const words = event.name.replace(".", " ");
	const title = words.charAt(0).toUpperCase() + words.slice(1);
	return deepFreeze({ title, notification: notificationOf(event.name), filters: {}, ...event });
};

/** Returns the events of a kind. Clients may filter them by part, and by one of two states. */
const eventsOf = (kind: PartKind & { readonly name: KindName }): DeviceEvent[] => {
	const { name, event } = kind;
	if (event === undefined) {
		return [];
	}
	const { description, filters } = TEXTS[name] ?? {};
	const states = event.data.filter(({ type }) => type === "boolean");
	const made: Record<string, EventFilter> = {
		[name]: { type: "string", description: `Only the ${name} with this name` },
		...Object.fromEntries(
			states.map((state) => [
				state.name,
				{ type: "boolean", description: `Only when it was turned ${state.name}, or off` },
			]),
		),
	};
	const verb = states.some((state) => state.name === "on") ? "was turned on or off" : event.name.split(".").at(-1);
	return [
		defineEvent({
			name: event.name,
			description: description ?? `A ${name} of a device ${verb}.`,
			filters: { ...made, ...filters },
			data: [{ name, type: "string" }, ...event.data],
			kind,
		}),
	];
};

/** Every event of devices, in the order in which clients list them. */
export const DEVICE_EVENTS: readonly DeviceEvent[] = deepFreeze([
	...PART_KINDS.flatMap(eventsOf),
	defineEvent({
		name: "timer.due",
		description: "A timer or an alarm of a device is due.",
		data: [
			{ name: "id", type: "any" },
			{ name: "text", type: "string", isOptional: true },
		],
	}),
	defineEvent({
		name: "rule.ran",
		description: "A rule of a device ran, or failed.",
		filters: {
			rule: { type: "string", description: "Only the rule with this name" },
			ok: { type: "boolean", description: "Only runs that succeeded, or only those that failed" },
		},
		data: [
			{ name: "rule", type: "string" },
			{ name: "ok", type: "boolean" },
			{ name: "error", type: "string", isOptional: true },
		],
	}),
	defineEvent({
		name: "device.event",
		title: "Event of a device",
		description: "A device reported an event that its maker has named.",
		notification: "notifications/event",
		filters: { event: { type: "string", description: "Only the event with this name" } },
		data: [
			{ name: "event", type: "string" },
			{ name: "data", type: "any", isOptional: true },
		],
		sources: { event: "name" },
	}),
	defineEvent({
		name: "conversation.said",
		title: "Said in a conversation",
		description: "Somebody talked to a device, or its assistant answered.",
		notification: "notifications/said",
		filters: { role: { type: "string", description: "Only what this one said", choices: ["user", "assistant"] } },
		data: [
			{ name: "role", type: "string" },
			{ name: "text", type: "string" },
		],
		isPersonal: true,
	}),
	defineEvent({
		name: "device.state",
		title: "State changed",
		description: "A device changed its state, such as from idle to speaking.",
		notification: "notifications/state_changed",
		filters: { state: { type: "string", description: "Only when the device enters this state" } },
		data: [
			{ name: "state", type: "string" },
			{ name: "previous", type: "string", isOptional: true },
		],
		sources: { state: "newState", previous: "oldState" },
	}),
]);
