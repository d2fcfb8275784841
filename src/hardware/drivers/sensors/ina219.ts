import { busSensor, readInt16 } from "./sensor-bus.js";

const CONFIGURATION = 0x00;
const SHUNT = 0x01;
const BUS = 0x02;

/** The configuration after power-on: 32 V, 320 mV at the shunt, 12 bits, continuous measurement. */
const DEFAULT = 0x399f;

/** Volts per bit. */
const SHUNT_BIT = 1e-5;
const BUS_BIT = 4e-3;

/** Driver of TI's current meter INA219. The power is computed here, so the chip needs no calibration. */
export default busSensor({
	address: 0x40,
	start(bus) {
		bus.writeUint16(CONFIGURATION, DEFAULT, true);
		return { ohms: 0.1 };
	},
	/** `ohms` of the shunt; default 0.1, as on usual modules. @throws RangeError if it is not positive */
	configure({ ohms = 0.1 }: { readonly ohms?: number }, state) {
		if (!(ohms > 0)) {
			throw new RangeError(`ohms: expected a number above 0, got ${ohms}`);
		}
		state.ohms = ohms;
	},
	sample(bus, { ohms }) {
		const current = (readInt16(bus, SHUNT) * SHUNT_BIT) / ohms;
		// The lowest three bits are flags.
		const voltage = (bus.readUint16(BUS, true) >> 3) * BUS_BIT;
		return { current, voltage, power: current * voltage };
	},
});
