import { BusSensor, checkId, type DriverSettings } from "./sensor-bus.js";

const TEMPERATURE = 0x05;
const MANUFACTURER = 0x06;
const MICROCHIP = 0x54;

/** Driver of Microchip's thermometer MCP9808. */
export default class MCP9808 extends BusSensor {
	constructor(options: DriverSettings) {
		super(options, 0x18, (bus) => checkId(bus.readUint16(MANUFACTURER, true), MICROCHIP));
	}

	sample(): object {
		// Sixteenths of a degree in 13 bits, below three flags.
		return { temperature: ((this.bus.readUint16(TEMPERATURE, true) << 19) >> 19) / 16 };
	}
}
