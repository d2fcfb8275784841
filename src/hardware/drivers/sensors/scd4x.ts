import { busSensor, command, readWords } from "./sensor-bus.js";

const START = [0x21, 0xb1];
const STOP = [0x3f, 0x86];
const IS_READY = [0xe4, 0xb8];
const READ = [0xec, 0x05];

/** Time that the chip takes for a command, and for a stop, ms. */
const COMMAND = 1;
const STOPPED = 500;

/** Bits of the answer that are not 0 once a measurement is ready. */
const READY = 0x07ff;

/** Driver of Sensirion's SCD40 and SCD41, which measure every 5 s. */
export default busSensor({
	address: 0x62,
	start(bus) {
		// The chip may have measured since before a restart, and then accepts no other command.
		command(bus, STOP, STOPPED);
		command(bus, START, 0);
	},
	sample(bus) {
		const [state = 0] = readWords(bus, IS_READY, COMMAND, 1);
		if ((state & READY) === 0) {
			return undefined;
		}
		const [CO2 = 0, temperature = 0, humidity = 0] = readWords(bus, READ, COMMAND, 3);
		return {
			carbonDioxideGasSensor: { CO2 },
			hygrometer: { humidity: (humidity * 100) / 0xffff },
			thermometer: { temperature: (temperature * 175) / 0xffff - 45 },
		};
	},
});
