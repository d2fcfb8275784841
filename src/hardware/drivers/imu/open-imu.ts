import Timer from "timer";
import type { SampledSource } from "../sensor-sampled.js";
import { type MotionSample, type MotionSensor, motionSensor } from "./sensor-motion.js";

/** Metres per second squared, for drivers that report multiples of g. */
export const STANDARD_GRAVITY = 9.80665;

/**
 * The motion sensor of the target.
 *
 * @param scale metres per second squared for one unit of the target's driver. Default 1
 */
export const openImu = (scale = 1): MotionSensor => {
	const { sensor } = device as unknown as { sensor: { IMU: new (options: object) => SampledSource<MotionSample> } };
	return motionSensor(new sensor.IMU({ sensor: {} }), Timer, scale);
};
