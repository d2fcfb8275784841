import { busSensor, command } from "./sensor-bus.js";

const POWER_ON = 0x01;
const CONTINUOUS = 0x10;

/** Longest measurement, ms. */
const MEASUREMENT = 180;

/** Counts per lux. */
const COUNTS = 1.2;

/** Driver of ROHM's light sensor BH1750FVI, which measures continuously with a resolution of 1 lx. */
export default busSensor({
	address: 0x23,
	start(bus) {
		command(bus, [POWER_ON], 0);
		command(bus, [CONTINUOUS], MEASUREMENT);
	},
	sample: (bus) => ({ illuminance: new DataView(bus.read(2)).getUint16(0) / COUNTS }),
});
