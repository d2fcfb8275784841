// How clients show readings. No device imports it, and the console imports nothing else of the vocabulary.
import { deepFreeze } from "../core/text/deep-freeze.js";

/** How clients show the readings of a kind of sensors. */
interface ReadingView {
	/** Decimals of a number. Default: at most four significant digits. */
	readonly decimals?: number;
	/** Units with which Home Assistant has a device class for it. */
	readonly units?: readonly string[];
	/** Name of that device class. Default: the kind. */
	readonly deviceClass?: string;
	/** Words for true and false. Default: yes and no. */
	readonly words?: readonly ["open" | "detected", "closed" | "clear"];
}

/** Readings by their kinds: those of sensor-kinds.ts, of a board, and device classes of Home Assistant. */
export const READING_VIEWS: Readonly<Record<string, ReadingView>> = deepFreeze({
	acceleration: { decimals: 1 },
	battery: { decimals: 0, units: ["%"] },
	chip: { decimals: 1 },
	co2: { decimals: 0, units: ["ppm"], deviceClass: "carbon_dioxide" },
	current: { decimals: 2, units: ["A", "mA"] },
	distance: { decimals: 0, units: ["mm", "cm", "m", "km"] },
	door: { words: ["open", "closed"] },
	energy: { decimals: 2, units: ["Wh", "kWh"] },
	frequency: { units: ["Hz", "kHz"] },
	garage_door: { words: ["open", "closed"] },
	humidity: { decimals: 0, units: ["%"] },
	illuminance: { decimals: 0, units: ["lx"] },
	light: { decimals: 0, units: ["lx"], deviceClass: "illuminance" },
	moisture: { decimals: 0, units: ["%"] },
	motion: { decimals: 1, words: ["detected", "clear"] },
	occupancy: { words: ["detected", "clear"] },
	opening: { words: ["open", "closed"] },
	power: { decimals: 1, units: ["W", "kW"] },
	pressure: { decimals: 1, units: ["hPa", "kPa", "Pa", "mbar"], deviceClass: "atmospheric_pressure" },
	temperature: { decimals: 1, units: ["°C", "°F", "K"] },
	tvoc: { decimals: 0, units: ["ppb", "ppm"], deviceClass: "volatile_organic_compounds_parts" },
	voltage: { decimals: 2, units: ["V", "mV"] },
	weight: { decimals: 2, units: ["g", "kg"] },
	window: { words: ["open", "closed"] },
});
