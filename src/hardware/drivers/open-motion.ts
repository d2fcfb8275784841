import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import type { TimerModule } from "../hardware.js";
import { boardBus, chipClass } from "./open-optional.js";
import { rounded, SampledSensor, type SampledSource } from "./sensor-sampled.js";

/** Metres per second squared, or a driver's own unit. */
type Axes = Readonly<Record<"x" | "y" | "z", number>>;

/** A sample of an accelerometer of ECMA-419. */
export interface MotionSample {
	/** Absent if nothing was measured since the last sample. */
	readonly accelerometer?: Axes;
}

/** Change along one axis that counts as motion, m/s². */
const MOVED = 2;

/**
 * Makes a motion sensor of an accelerometer that the SDK has a driver for: it measures the acceleration along its axes.
 *
 * @param scale metres per second squared per unit of the driver; some drivers of the SDK report multiples of g
 */
export const motionSensor = (source: SampledSource<MotionSample>, timer: TimerModule, scale = 1) =>
	new SampledSensor({
		describe: () => ({ kind: "motion", unit: "m/s²" }),
		source,
		pick: ({ accelerometer: axes }) =>
			axes && { x: rounded(axes.x * scale), y: rounded(axes.y * scale), z: rounded(axes.z * scale) },
		differs: (now, before) =>
			Math.max(Math.abs(now.x - before.x), Math.abs(now.y - before.y), Math.abs(now.z - before.z)) >= MOVED,
		timer,
	});

/** Metres per second squared, for drivers that report multiples of g. */
const STANDARD_GRAVITY = 9.80665;

/** Opens the motion sensor of a board. */
export default (({ data, board }) => {
	const { driver, address, unit } = typeof data.motion === "object" ? data.motion : {};
	const bus = { ...boardBus(), ...(address !== undefined && { address }) };
	const Imu = chipClass<new (options: object) => SampledSource<MotionSample>>(driver, "sensor", "IMU");
	const source = new Imu({ sensor: driver === undefined ? {} : bus });
	const motion = motionSensor(source, Timer, unit === "g" ? STANDARD_GRAVITY : 1);
	Object.assign(board, { sensors: { ...board.sensors, motion } });
}) satisfies OpenMember;
