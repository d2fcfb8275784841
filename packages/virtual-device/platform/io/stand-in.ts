import Analog from "./analog.js";
import { type ChipAddress, readChip, showChip } from "./bus.js";
import PulseWidth from "./pulsewidth.js";
import { mapSample, readingsOf, SENSORS, type SensorModel } from "./sensors.js";
import SMBus from "./smbus.js";

/** The sensor that a driver is given (ECMA-419 §13). */
interface Sensor {
	readonly io: { readonly prototype: object };
	readonly address?: number;
	readonly pin?: number;
	/** The name of its part, in a project with parts. */
	readonly part?: string;
}

/** Classes that a driver takes. Those of a 1-Wire bus and of a DHT are the driver's own. */
const IO = { bus: SMBus, analog: Analog, pulsewidth: PulseWidth, onewire: Object, dht: Object };

/** Stands in for a driver and its sensor. The readings are set from outside. */
export default class StandIn {
	readonly #sample: SensorModel["sample"];
	readonly #address: ChipAddress;
	#isOpen = true;

	/**
	 * @param name of the driver's module, after "embedded:sensor/"
	 * @throws TypeError if the driver takes another `io`, Error if the sensor is unplugged
	 */
	constructor(name: string, { sensor: { io, pin, address, part } }: { readonly sensor: Sensor }) {
		const model = SENSORS[name] as SensorModel;
		const expected = IO[model.io];
		if (io !== expected && !(io.prototype instanceof expected)) {
			throw new TypeError(`io: the driver ${name} takes "embedded:io/${model.io === "bus" ? "smbus" : model.io}"`);
		}
		this.#sample = model.sample;
		this.#address = address ?? model.address ?? `pin ${pin}`;
		const type = name.slice(name.indexOf("/") + 1);
		const initial = Object.entries(readingsOf(type)).map(([reading, { value }]) => [reading, value]);
		showChip(this.#address, part, type, Object.fromEntries(initial));
		readChip(this.#address);
	}

	configure(): void {}

	sample(): object {
		if (!this.#isOpen) {
			throw new Error("closed");
		}
		const values = readChip(this.#address);
		return mapSample(this.#sample, ({ value, factor = 1 }, reading) => (values[reading] ?? value) * factor);
	}

	close(): void {
		this.#isOpen = false;
	}
}
