import Time from "time";
import Timer from "timer";
import { BusSensor, checkSilence, type DriverSettings, readWords } from "./sensor-bus.js";

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
export default class SCD4x extends BusSensor {
	private measuredAt = Time.ticks;

	constructor(options: DriverSettings) {
		super(options, 0x62, (bus) => {
			// It may still measure since before a restart, and then takes no other command.
			bus.write(Uint8Array.from(STOP));
			Timer.delay(STOPPED);
			bus.write(Uint8Array.from(START));
		});
	}

	/** Returns a new measurement; undefined until there is one. @throws Error if the chip has stopped */
	sample(): object | undefined {
		const [state = 0] = this.ask(IS_READY, 1);
		if ((state & READY) === 0) {
			checkSilence(this.measuredAt);
			return undefined;
		}
		this.measuredAt = Time.ticks;
		const [CO2 = 0, temperature = 0, humidity = 0] = this.ask(READ, 3);
		return {
			carbonDioxideGasSensor: { CO2 },
			hygrometer: { humidity: (humidity * 100) / 0xffff },
			thermometer: { temperature: (temperature * 175) / 0xffff - 45 },
		};
	}

	private ask(command: readonly number[], words: number): number[] {
		this.bus.write(Uint8Array.from(command));
		Timer.delay(COMMAND);
		return readWords(this.bus, words);
	}
}
