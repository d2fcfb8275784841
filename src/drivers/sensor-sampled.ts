import type { Reading, Sensor, SensorKind } from "../hardware/sensor.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** A sensor of ECMA-419, as far as it is used. */
export interface SampledSource<Sample> {
	sample(): Sample | undefined;
	close(): void;
}

export interface SampledSensorOptions<Sample> {
	readonly kind: SensorKind;
	readonly unit: string;
	readonly source: SampledSource<Sample>;
	/** The value in a sample; undefined if there is nothing new. */
	readonly pick: (sample: Sample) => Reading | undefined;
	/** Whether somebody may want to know that the value has changed so much. */
	readonly differs: (reading: Reading, told: Reading) => boolean;
	readonly timer: TimerModule;
}

/** Milliseconds from one look at a sensor to the next, and so between two changes that are told. */
export const SENSOR_INTERVAL = 1_000;

/** A sensor that the SDK has a driver for. It is looked at once a second, so that changes are noticed. */
export class SampledSensor<Sample> implements Sensor {
	onChange: ((reading: Reading) => void) | undefined;
	readonly #options: SampledSensorOptions<Sample>;
	readonly #watch: TimerHandle;
	/** What was measured last. */
	#last: Reading | undefined;
	/** What changes are compared with. */
	#told: Reading | undefined;

	constructor(options: SampledSensorOptions<Sample>) {
		this.#options = options;
		this.#watch = options.timer.repeat(() => this.#look(), SENSOR_INTERVAL);
	}

	get kind(): SensorKind {
		return this.#options.kind;
	}

	get unit(): string {
		return this.#options.unit;
	}

	read(): Reading {
		const { source, pick } = this.#options;
		const sample = source.sample();
		const reading = (sample && pick(sample)) ?? this.#last;
		if (reading === undefined) {
			throw new Error("the sensor has not measured anything yet");
		}
		this.#last = reading;
		return reading;
	}

	close(): void {
		this.#options.timer.clear(this.#watch);
		this.#options.source.close();
	}

	#look(): void {
		let reading: Reading;
		try {
			reading = this.read();
		} catch {
			// Whoever reads the sensor is told.
			return;
		}
		if (this.#told === undefined) {
			this.#told = reading;
		} else if (this.#options.differs(reading, this.#told)) {
			this.#told = reading;
			this.onChange?.(reading);
		}
	}
}
