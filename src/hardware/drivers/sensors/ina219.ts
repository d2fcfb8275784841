import { busSensor, readInt16 } from "./sensor-bus.js";

const CONFIGURATION = 0x00;
const SHUNT = 0x01;
const BUS = 0x02;

/** The state after power-on: 32 V, 320 mV at the shunt, 12 bits, measuring all the time. */
const DEFAULT = 0x399f;

/** Volts of a bit. */
const SHUNT_BIT = 1e-5;
const BUS_BIT = 4e-3;

/** Driver of TI's meter of current INA219. The power is computed here, so the chip needs no calibration. */
export default busSensor({
	address: 0x40,
	start(bus) {
		bus.writeUint16(CONFIGURATION, DEFAULT, true);
		return { ohms: 0.1 };
	},
	/** `ohms` of the shunt; default 0.1, as usual modules have it. @throws RangeError if it is not positive */
	configure({ ohms = 0.1 }: { readonly ohms?: number }, state) {
		if (!(ohms > 0)) {
			throw new RangeError(`ohms: expected a number above 0, got ${ohms}`);
		}
		state.ohms = ohms;
	},
	sample(bus, { ohms }) {
		const current = (readInt16(bus, SHUNT) * SHUNT_BIT) / ohms;
		// Below are three bits of state.
		const voltage = (bus.readUint16(BUS, true) >> 3) * BUS_BIT;
		return { current, voltage, power: current * voltage };
	},
});
