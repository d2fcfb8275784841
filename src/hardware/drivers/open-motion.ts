import Timer from "timer";
import { findDriver } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";
import { type MotionSample, type MotionSensor, motionSensor } from "./sensor-motion.js";
import type { SampledSource } from "./sensor-sampled.js";

/** Metres per second squared, for drivers that report multiples of g. */
const STANDARD_GRAVITY = 9.80665;

type Imu = new (options: object) => SampledSource<MotionSample>;

/**
 * Opens a motion sensor.
 *
 * @param scale metres per second squared for one unit of the driver. Default 1
 * @param options of the driver. Default: those of the target's
 */
export const openImu = (scale = 1, driver?: Imu, options: object = { sensor: {} }): MotionSensor => {
	const { sensor } = device as unknown as { sensor?: { IMU?: Imu } };
	const Driver = (driver ?? sensor?.IMU) as Imu;
	return motionSensor(new Driver(options), Timer, scale);
};

/** Opens the motion sensor of a board, if it answers. */
export default (({ data, board, closing }) => {
	const { driver, address, unit } = typeof data.motion === "object" ? data.motion : {};
	const sensor = { ...boardBus(), ...(address !== undefined && { address }) };
	const scale = unit === "g" ? STANDARD_GRAVITY : 1;
	const motion = openOptional("motion sensor", () =>
		driver === undefined ? openImu(scale) : openImu(scale, findDriver<Imu>(driver), { sensor }),
	);
	if (motion !== undefined) {
		Object.assign(board, { sensors: { ...board.sensors, motion } });
		closing.push(motion);
	}
}) satisfies OpenMember;
