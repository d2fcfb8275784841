import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import type { TimerModule } from "../hardware.js";
import { boardBus, chipClass } from "./open-optional.js";
import { SampledSensor, type SampledSource } from "./sensor-sampled.js";

/** A light sensor of ECMA-419. */
type LightSource = SampledSource<{ readonly lightmeter?: { readonly illuminance: number } }>;

/** Changes below this are noise. */
const DARK = 10;

/** Makes a light sensor of one that the SDK has a driver for. A change is reported when the light doubles or halves. */
export const lightSensor = (source: LightSource, timer: TimerModule) =>
	new SampledSensor({
		describe: () => ({ kind: "light", unit: "counts" }),
		source,
		pick: ({ lightmeter }) => lightmeter?.illuminance,
		differs: (value, reported) => {
			const [now, before] = [Math.max(DARK, value), Math.max(DARK, reported)];
			return now >= 2 * before || before >= 2 * now;
		},
		timer,
	});

/** Opens the light sensor of a board. */
export default (({ data: { light: driver }, board }) => {
	const Driver = chipClass<new (options: object) => LightSource>(driver, "sensor", "Light");
	const light = lightSensor(new Driver({ sensor: boardBus() }), Timer);
	Object.assign(board, { sensors: { ...board.sensors, light } });
}) satisfies OpenMember;
