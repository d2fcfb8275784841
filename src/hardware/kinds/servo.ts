import { definePartKind } from "./part-kind.js";

/** A motor that turns its arm to an angle. */
export interface Servo {
	/** Its name for people. */
	readonly title?: string | undefined;
	/** The angle that it was moved to last, in degrees; undefined before. */
	readonly angle: number | undefined;
	/** The range of its angles, in degrees. */
	readonly min: number;
	readonly max: number;
	/** Why it cannot be moved: its pin could not be opened. Undefined if it can. */
	readonly error: string | undefined;
	/**
	 * @param angle degrees, from `min` to `max`
	 * @throws Error if it cannot be moved, or not so far
	 */
	move(angle: number): void;
}

export const servo = definePartKind<Servo>()({
	name: "servo",
	plural: "servos",
	status: [
		{ name: "angle", type: "number", isOptional: true, unit: "°", range: ["min", "max"] },
		{ name: "min", type: "number" },
		{ name: "max", type: "number" },
	],
	tool: { name: "self.servo.move", part: "name", sets: ["angle"] },
});
