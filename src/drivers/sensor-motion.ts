import type { Reading } from "../hardware/sensor.js";
import type { TimerModule } from "../hardware/timer.js";
import { SampledSensor, type SampledSource } from "./sensor-sampled.js";

interface Axes {
	readonly x: number;
	readonly y: number;
	readonly z: number;
}

/** A sample of an accelerometer of ECMA-419. */
export interface MotionSample {
	/** Absent if nothing was measured since the last sample. */
	readonly accelerometer?: Axes;
}

export interface MotionSensorOptions {
	readonly source: SampledSource<MotionSample>;
	/** Metres per second squared for one unit of the driver's. Default 1: some drivers of the SDK tell multiples of g. */
	readonly scale?: number;
	readonly timer: TimerModule;
}

/** A change of so many m/s² along one axis means that the device was moved, turned or shaken. */
const MOVED = 2;

/** The acceleration that the device feels, along its axes. At rest that is gravity. */
export function motionSensor({ source, scale = 1, timer }: MotionSensorOptions): SampledSensor<MotionSample> {
	return new SampledSensor({
		kind: "motion",
		unit: "m/s²",
		source,
		pick: ({ accelerometer: axes }) =>
			axes && { x: round(axes.x * scale), y: round(axes.y * scale), z: round(axes.z * scale) },
		differs: wasMoved,
		timer,
	});
}

function wasMoved(reading: Reading, told: Reading): boolean {
	const [now, before] = [reading as Axes, told as Axes];
	return Math.max(Math.abs(now.x - before.x), Math.abs(now.y - before.y), Math.abs(now.z - before.z)) >= MOVED;
}

/** To hundredths: the rest is noise. */
function round(value: number): number {
	return Math.round(value * 100) / 100;
}
