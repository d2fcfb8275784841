import { definePartKind, type NamedPart } from "./part-kind.js";

/** Why a switch has changed. */
export type SwitchCause = "call" | "limit" | "session";

/** Something that is on or off: a relay. */
export interface Switch extends NamedPart {
	readonly on: boolean;
	/** Maximum seconds on, after which it switches itself off. Absent without a limit. */
	readonly maxOn?: number | undefined;
	/** Seconds until it switches itself off; undefined while it is off, or stays on. */
	readonly left: number | undefined;
	/**
	 * Switches it off, or on for some seconds. A call while it is on sets a new time; in all it is on for at most `maxOn`.
	 *
	 * @throws Error if it cannot be switched, was switched on too recently, or may not stay on for so long
	 */
	turn(on: boolean, seconds?: number): void;
	/** Switches it off if it is on, else on. @throws Error as {@link turn} does */
	toggle(): void;
	/** Called when it was switched. */
	onChange: ((on: boolean, cause: SwitchCause) => void) | undefined;
}

/**
 * Checks for how long a switch is to stay on.
 *
 * @throws Error if that is longer than `maxOn`
 */
export const checkSeconds = (name: string, { maxOn }: Pick<Switch, "maxOn">, seconds: number | undefined): void => {
	if (seconds !== undefined && maxOn !== undefined && seconds > maxOn) {
		throw new Error(`seconds: ${name} stays on for at most ${maxOn} seconds, not ${seconds}`);
	}
};

export const switchKind = definePartKind<Switch>()({
	name: "switch",
	plural: "switches",
	keepsAwake: true,
	status: [
		{ name: "on", type: "boolean" },
		{ name: "seconds_left", type: "number", isOptional: true, from: "left" },
		{ name: "max_seconds", type: "number", isOptional: true, from: "maxOn" },
	],
	tool: { name: "self.switch.set", part: "name", sets: ["on"] },
	event: {
		name: "switch.changed",
		by: "onChange",
		data: [
			{ name: "on", type: "boolean", at: 0 },
			{ name: "cause", type: "string", isOptional: true, at: 1 },
		],
		isLogged: true,
	},
});
