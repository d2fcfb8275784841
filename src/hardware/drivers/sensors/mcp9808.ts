import { busSensor, checkId } from "./sensor-bus.js";

const TEMPERATURE = 0x05;
const MANUFACTURER = 0x06;
const MICROCHIP = 0x54;

/** Driver of Microchip's thermometer MCP9808. */
export default busSensor({
	address: 0x18,
	start: (bus) => checkId(bus.readUint16(MANUFACTURER, true), MICROCHIP),
	// Sixteenths of a degree in 13 bits, below three flags.
	sample: (bus) => ({ temperature: ((bus.readUint16(TEMPERATURE, true) << 19) >> 19) / 16 }),
});
