import { deepFreeze } from "../core/text/deep-freeze.js";

interface KnownKind {
	/** The unit of ECMA-419 (§13), as Home Assistant writes it. */
	readonly unit: string;
	/** The change that is worth an event, unless a part says otherwise. */
	readonly step: number;
	/** Decimals of its values. Default 2. */
	readonly decimals?: number;
}

/** The kinds that are measured in numbers, by the members of ECMA-419's samples and Home Assistant's device classes. */
export const SENSOR_KINDS: Readonly<Record<string, KnownKind>> = deepFreeze({
	acceleration: { unit: "m/s²", step: 2 },
	co2: { unit: "ppm", step: 50 },
	current: { unit: "A", step: 0.1, decimals: 4 },
	distance: { unit: "cm", step: 5 },
	energy: { unit: "kWh", step: 0.01 },
	frequency: { unit: "Hz", step: 0.5 },
	humidity: { unit: "%", step: 2 },
	illuminance: { unit: "lx", step: 50 },
	light: { unit: "lx", step: 50 },
	moisture: { unit: "%", step: 2 },
	power: { unit: "W", step: 5, decimals: 4 },
	pressure: { unit: "Pa", step: 100 },
	temperature: { unit: "°C", step: 0.5 },
	tvoc: { unit: "ppb", step: 50 },
	voltage: { unit: "V", step: 0.1, decimals: 4 },
	weight: { unit: "kg", step: 0.1 },
});
