import Timer from "timer";
import { BusSensor, type DriverSettings, readWords } from "./sensor-bus.js";

const MEASURE = 0xfd;
const RESET = 0x94;

/** Longest measurement of high precision, ms. */
const MEASUREMENT = 10;

/** Driver of Sensirion's SHT40, SHT41, SHT43 and SHT45. */
export default class SHT4x extends BusSensor {
	constructor(options: DriverSettings) {
		super(options, 0x44, (bus) => {
			bus.write(Uint8Array.of(RESET));
			Timer.delay(1);
		});
	}

	sample(): object {
		this.bus.write(Uint8Array.of(MEASURE));
		Timer.delay(MEASUREMENT);
		const [temperature = 0, humidity = 0] = readWords(this.bus, 2);
		return {
			hygrometer: { humidity: Math.min(100, Math.max(0, (humidity * 125) / 0xffff - 6)) },
			thermometer: { temperature: (temperature * 175) / 0xffff - 45 },
		};
	}
}
