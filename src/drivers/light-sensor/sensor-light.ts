import { SampledSensor, type SampledSensorOptions } from "../sensor-sampled.js";

/** A sample of a light sensor of ECMA-419. */
interface LightSample {
	readonly lightmeter?: { readonly illuminance: number };
}

interface LightSensorOptions extends Pick<SampledSensorOptions<LightSample, number>, "source" | "timer"> {
	/** "lx", or what else the driver counts in. */
	readonly unit: string;
}

/** How bright it is where the device stands. */
export type LightSensor = SampledSensor<LightSample, number>;

/** Changes below this are noise. */
const DARK = 10;

/** Makes a light sensor of one that the SDK has a driver for. A change is reported when the light doubles or halves. */
export const lightSensor = ({ source, unit, timer }: LightSensorOptions): LightSensor =>
	new SampledSensor({
		describe: () => ({ kind: "light", unit }),
		source,
		pick: ({ lightmeter }) => lightmeter?.illuminance,
		differs: (value, told) => {
			const [now, before] = [Math.max(DARK, value), Math.max(DARK, told)];
			return now >= 2 * before || before >= 2 * now;
		},
		timer,
	});
