import { busSensor, command, readInt16 } from "./sensor-bus.js";

const CONVERSION = 0x00;
const CONFIGURATION = 0x01;

/** One conversion of the input 0 in a range of ±4.096 V at 860 samples/s, without comparator. */
const CONVERT = 0xc3e3;

/** Lowest bit of the input's number. */
const INPUT = 12;

/** Time for a conversion, ms. */
const MEASUREMENT = 2;

const FULL_SCALE = 4.096;

/** Driver of TI's converter ADS1115: the voltage of each input against ground, up to the supply of the chip. */
export default busSensor({
	address: 0x48,
	start: (bus) => bus.readUint16(CONFIGURATION, true),
	sample(bus) {
		const volts = [0, 1, 2, 3].map((input) => {
			const convert = CONVERT | (input << INPUT);
			command(bus, [CONFIGURATION, convert >> 8, convert & 0xff], MEASUREMENT);
			return [`voltage_${input}`, (readInt16(bus, CONVERSION) * FULL_SCALE) / 0x8000];
		});
		return Object.fromEntries(volts);
	},
});
