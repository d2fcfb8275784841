import Timer from "timer";
import { busSensor, checkCrc, command } from "./sensor-bus.js";

const CALIBRATE = [0xbe, 0x08, 0x00];
const MEASURE = [0xac, 0x33, 0x00];

/** Bits of the first byte that is read. */
const BUSY = 0x80;
const CALIBRATED = 0x08;

/** Time after power-on, for the calibration and for a measurement, ms. */
const POWER_ON = 40;
const CALIBRATION = 10;
const MEASUREMENT = 80;

const FULL_SCALE = 2 ** 20;

/** Driver of ASAIR's AHT20, AHT21 and AHT25. */
export default busSensor({
	address: 0x38,
	start(bus) {
		Timer.delay(POWER_ON);
		const [status = 0] = new Uint8Array(bus.read(1));
		if ((status & CALIBRATED) === 0) {
			command(bus, CALIBRATE, CALIBRATION);
		}
	},
	sample(bus) {
		command(bus, MEASURE, MEASUREMENT);
		const bytes = bus.read(7);
		const data = new DataView(bytes);
		if (data.getUint8(0) & BUSY) {
			return undefined;
		}
		checkCrc(new Uint8Array(bytes));
		// Two numbers of 20 bits share the bytes 1 to 5.
		const humidity = data.getUint32(1) >>> 12;
		const temperature = data.getUint32(2) & (FULL_SCALE - 1);
		return {
			hygrometer: { humidity: (humidity * 100) / FULL_SCALE },
			thermometer: { temperature: (temperature * 200) / FULL_SCALE - 50 },
		};
	},
});
