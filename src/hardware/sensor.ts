/** What a sensor measures. A motion sensor has three values, the acceleration along its axes. */
export type SensorKind = "temperature" | "light" | "motion";

/** A number, or several named ones: `{ x, y, z }`. */
export type Reading = number | Readonly<Record<string, number>>;

export interface Sensor {
	readonly kind: SensorKind;
	/** Of its values: "°C", "lx", "m/s²". */
	readonly unit: string;
	/** @throws Error if the sensor does not answer, or has no value yet */
	read(): Reading;
	/** Called when the value has changed noticeably. Not every sensor calls it. */
	onChange: ((reading: Reading) => void) | undefined;
}

/** A board's sensors by name. */
export type Sensors = Readonly<Record<string, Sensor>>;
