import { busSensor, command, readWords } from "./sensor-bus.js";

const MEASURE = 0xfd;
const RESET = 0x94;

/** Longest measurement of high precision, ms. */
const MEASUREMENT = 10;

/** Driver of Sensirion's SHT40, SHT41, SHT43 and SHT45. */
export default busSensor({
	address: 0x44,
	start: (bus) => command(bus, [RESET], 1),
	sample(bus) {
		const [temperature = 0, humidity = 0] = readWords(bus, [MEASURE], MEASUREMENT, 2);
		return {
			hygrometer: { humidity: Math.min(100, Math.max(0, (humidity * 125) / 0xffff - 6)) },
			thermometer: { temperature: (temperature * 175) / 0xffff - 45 },
		};
	},
});
