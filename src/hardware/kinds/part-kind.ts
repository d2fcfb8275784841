import { deepFreeze } from "../../core/text/deep-freeze.js";

/** Members of a part that may fail to open. */
export interface NamedPart {
	/** Its name for people. */
	readonly title?: string | undefined;
	/** Why it cannot be used: its pin or port could not be opened. Undefined if it can. */
	readonly error?: string | undefined;
}

/** Type of a value. A "reading" is a number, a boolean, or several of them by name; its "unit" is one text, or texts by name. */
export type MemberType = "boolean" | "number" | "integer" | "string" | "color" | "reading" | "unit" | "any";

/** Value in a status or an event. */
export interface Member {
	readonly name: string;
	readonly type: MemberType;
	readonly isOptional?: true;
}

/** Value of a part in the device's status. */
interface StatusMember<Source extends string = string> extends Member {
	readonly unit?: string;
	/** Its lowest and highest value, or the names of the members that have them. */
	readonly range?: readonly [min: number | string, max: number | string];
	/** Member of the part that has it. Default: the one of the same name. */
	readonly from?: Source;
}

/** Value in the event of a part. */
interface EventMember extends Member {
	/** Index of the callback's argument with the value. Default: it is the part's member of this name. */
	readonly at?: number;
}

/** Kind of hardware of which a board may have several, by name. What only clients read is in vocabulary.ts. */
export interface PartKind<Source extends string = string> {
	/** Name of one part: "switch". Its events have the part's name in this member. */
	readonly name: string;
	/** Member of the hardware and of the status that has all such parts: "switches". */
	readonly plural: string;
	/** The plural in a sentence. Default: {@link plural}. */
	readonly words?: string;
	/** Whether a part that is `on` keeps the device awake. The resource of the device's state has such parts. */
	readonly keepsAwake?: true;
	/** Values in the status after `title` and `error`, in order. Empty: the status has no such parts. */
	readonly status: readonly StatusMember<Source>[];
	/** The tool that uses a part. */
	readonly tool?: {
		readonly name: string;
		/** Argument that names the part. */
		readonly part: string;
		/** Arguments that set the values of the same name in the status. */
		readonly sets?: readonly string[];
	};
	/** The event of a part. */
	readonly event?: {
		/** Type of the event: "switch.changed". The device notifies of it by `notifications/switch_changed`. */
		readonly name: string;
		/** Callback of the part. Its arguments are values of the event. */
		readonly by: Source;
		/** Values of the event, in addition to the part's name. */
		readonly data: readonly EventMember[];
		/** Whether the device logs it: its first two values are whether the part is on, and why. */
		readonly isLogged?: true;
	};
}

declare const partType: unique symbol;

/** Exists only in the type system: the interface of a part at work. */
export interface OfPart<Part> {
	readonly [partType]?: Part;
}

/** Interface of a part at work, by its kind. */
export type PartOf<Kind> = Kind extends OfPart<infer Part> ? Part : never;

/**
 * Defines a kind of parts, as plain data: a chip keeps it in flash.
 *
 * @example
 * export const servo = definePartKind<Servo>()({ name: "servo", plural: "servos", status: [{ name: "angle", type: "number" }] });
 */
export const definePartKind =
	<Part>() =>
	<const Kind extends PartKind<keyof Part & string>>(kind: Kind): Kind & OfPart<Part> =>
		deepFreeze(kind);

/** The notification of an event: "switch.changed" is `notifications/switch_changed`. */
export const notificationOf = (event: string): string => `notifications/${event.replace(".", "_")}`;
