import { deepFreeze } from "../core/text/deep-freeze.js";
import { checkAngle, type Servo } from "./kinds/servo.js";

/** A direction of a head, in degrees. */
interface Direction {
	/** Negative to the device's own left. */
	readonly yaw: number;
	/** Positive upwards. */
	readonly pitch: number;
}

/** A head that turns and tilts. */
export interface Head {
	/** @throws Error if the direction is out of range */
	check(direction: Partial<Direction>): void;
	/**
	 * Moves the head, and ends a gesture of the same servo. Resolves once its servos have started.
	 *
	 * @param speed degrees per second. Default 120
	 * @throws Error if a servo does not answer, or the direction is out of its range
	 */
	move(direction: Partial<Direction>, speed?: number): Promise<void>;
	/**
	 * Turns to a point, or to the limit of the range. Distances have any unit.
	 *
	 * @returns the direction
	 * @throws Error if a servo does not answer
	 */
	lookAt(ahead: number, right: number, up: number): Promise<Direction>;
	/**
	 * Nods or shakes the head, and returns it to its last commanded angle, even if it was turned by hand since.
	 *
	 * @param sleep waits, in milliseconds. It rejects to end the gesture
	 * @returns false if another movement interrupted it
	 * @throws Error if a servo does not answer, or that of `sleep`
	 */
	gesture(gesture: keyof typeof GESTURES, sleep: (delay: number) => Promise<void>): Promise<boolean>;
}

/** UART of the servos, the chip's last: the first has the log, a project's serial part uses the second by default. */
export const HEAD_UART = 2;

/** A servo that acknowledges each move. */
export interface TurningServo extends Servo {
	/** Last commanded angle, in degrees; undefined before the first move. */
	readonly target: number | undefined;
	/**
	 * Turns the arm. Resolves once the movement has started.
	 *
	 * @param speed degrees per second. Default 120
	 * @throws Error if the servo does not answer, or the angle is out of range
	 */
	move(angle: number, speed?: number): Promise<void>;
}

/** The axis of a gesture, and its angles, in degrees from the start. */
const GESTURES = deepFreeze({
	nod: { axis: "pitch", angles: [-15, 0, -15, 0] },
	shake: { axis: "yaw", angles: [-20, 20, -20, 20, 0] },
} as const);

/** Degrees per second of a gesture, and milliseconds of each of its movements. */
const GESTURE_SPEED = 200;
const GESTURE_STEP = 250;

/** Makes a head of two servos. */
export const servoHead = (servos: Readonly<Record<keyof Direction, TurningServo>>): Head => {
	const axesOf = (direction: Partial<Direction>) =>
		(["yaw", "pitch"] as const).flatMap((axis) => {
			const angle = direction[axis];
			return angle === undefined ? [] : [{ axis, servo: servos[axis], angle }];
		});
	const limit = ({ min, max }: TurningServo, angle: number): number => Math.min(Math.max(angle, min), max);
	const degrees = (y: number, x: number): number => Math.round((Math.atan2(y, x) * 180) / Math.PI);
	const head: Head = {
		check(direction) {
			for (const { axis, servo, angle } of axesOf(direction)) {
				checkAngle(axis, servo, angle);
			}
		},
		async move(direction, speed) {
			await Promise.all(axesOf(direction).map(({ servo, angle }) => servo.move(angle, speed)));
		},
		async lookAt(ahead, right, up) {
			const yaw = limit(servos.yaw, degrees(right, ahead));
			const pitch = limit(servos.pitch, degrees(up, Math.hypot(ahead, right)));
			await head.move({ yaw, pitch });
			return { yaw, pitch };
		},
		async gesture(gesture, sleep) {
			const { axis, angles } = GESTURES[gesture];
			const servo = servos[axis];
			const start = limit(servo, servo.target ?? servo.angle ?? 0);
			// A head that looks down already nods upwards.
			const sign = start + angles[0] < servo.min ? -1 : 1;
			for (const angle of angles) {
				const next = limit(servo, start + sign * angle);
				await servo.move(next, GESTURE_SPEED);
				await sleep(GESTURE_STEP);
				if (servo.target !== next) {
					return false;
				}
			}
			return true;
		},
	};
	return head;
};
