import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import { boardBus, chipClass, openOptional } from "./open-optional.js";
import { type MotionSample, motionSensor } from "./sensor-motion.js";
import type { SampledSource } from "./sensor-sampled.js";

/** Metres per second squared, for drivers that report multiples of g. */
const STANDARD_GRAVITY = 9.80665;

/** Opens the motion sensor of a board, if it answers. */
export default (({ data, board, closing }) => {
	const { driver, address, unit } = typeof data.motion === "object" ? data.motion : {};
	const bus = { ...boardBus(), ...(address !== undefined && { address }) };
	const motion = openOptional("motion sensor", () => {
		const Imu = chipClass<new (options: object) => SampledSource<MotionSample>>(driver, "sensor", "IMU");
		const source = new Imu({ sensor: driver === undefined ? {} : bus });
		return motionSensor(source, Timer, unit === "g" ? STANDARD_GRAVITY : 1);
	});
	if (motion !== undefined) {
		Object.assign(board, { sensors: { ...board.sensors, motion } });
		closing.push(motion);
	}
}) satisfies OpenMember;
