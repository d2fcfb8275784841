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

/** A board's servos by name. */
export type Servos = Readonly<Record<string, Servo>>;
