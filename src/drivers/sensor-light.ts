import type { TimerModule } from "../hardware/timer.js";
import { SampledSensor, type SampledSource } from "./sensor-sampled.js";

/** A sample of a light sensor of ECMA-419. */
export interface LightSample {
	readonly lightmeter?: { readonly illuminance: number };
}

export interface LightSensorOptions {
	readonly source: SampledSource<LightSample>;
	/** "lx", or what else the driver counts in. */
	readonly unit: string;
	readonly timer: TimerModule;
}

/** Below this, changes are noise. */
const DARK = 10;

/** How bright it is where the device stands. A change is told if it became twice or half as bright. */
export function lightSensor({ source, unit, timer }: LightSensorOptions): SampledSensor<LightSample> {
	return new SampledSensor({
		kind: "light",
		unit,
		source,
		pick: ({ lightmeter }) => lightmeter?.illuminance,
		differs: (reading, told) => {
			const [now, before] = [Math.max(DARK, reading as number), Math.max(DARK, told as number)];
			return now >= 2 * before || before >= 2 * now;
		},
		timer,
	});
}
