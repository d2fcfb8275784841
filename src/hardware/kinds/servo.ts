import { definePartKind, type NamedPart } from "./part-kind.js";

/** A motor that turns its arm to an angle. */
export interface Servo extends NamedPart {
	/** Last commanded angle, or last reading of a servo that measures it, in degrees; undefined before. */
	readonly angle: number | undefined;
	/** The range of its angles, in degrees. */
	readonly min: number;
	readonly max: number;
	/**
	 * Turns the arm. A servo that acknowledges moves returns a promise.
	 *
	 * @param angle degrees, from `min` to `max`
	 * @throws Error if it cannot be moved, or the angle is out of range
	 */
	move(angle: number): Promise<void> | void;
}

/** Checks an angle for a servo. @throws Error if it is out of range */
export const checkAngle = (name: string, { min, max }: Pick<Servo, "min" | "max">, angle: number): void => {
	if (!(angle >= min && angle <= max)) {
		throw new Error(`angle: ${name} moves from ${min} to ${max} degrees, not to ${angle}`);
	}
};

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
