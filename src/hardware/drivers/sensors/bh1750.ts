import Timer from "timer";
import { BusSensor, type DriverSettings } from "./sensor-bus.js";

const POWER_ON = 0x01;
const CONTINUOUS = 0x10;

/** Longest measurement, ms. */
const MEASUREMENT = 180;

/** Counts for a lux. */
const COUNTS = 1.2;

/** Driver of ROHM's light sensor BH1750FVI, which measures all the time with a resolution of 1 lx. */
export default class BH1750 extends BusSensor {
	constructor(options: DriverSettings) {
		super(options, 0x23, (bus) => {
			bus.write(Uint8Array.of(POWER_ON));
			bus.write(Uint8Array.of(CONTINUOUS));
			Timer.delay(MEASUREMENT);
		});
	}

	sample(): object {
		const [high = 0, low = 0] = new Uint8Array(this.bus.read(2));
		return { illuminance: ((high << 8) | low) / COUNTS };
	}
}
