import type { TimerHandle, TimerModule } from "../hardware.js";
import type { Reading, Sensor } from "../kinds/sensor.js";

/** A sensor of ECMA-419. */
export interface SampledSource<Sample> {
	sample(): Sample | undefined;
	/** Closes the driver. Absent in some drivers of the SDK. */
	close?(): void;
}

export interface SampledSensorOptions<Sample, Value extends Reading> {
	readonly title?: string | undefined;
	/** The quantity that it measures, and its unit. A driver of several quantities knows it after its first sample. */
	readonly describe: () => Pick<Sensor, "kind" | "unit">;
	readonly source: SampledSource<Sample>;
	/** The value in a sample; undefined without a new one. */
	readonly pick: (sample: Sample) => Value | undefined;
	/** Whether the change is large enough to report. */
	readonly differs: (value: Value, reported: Value) => boolean;
	/** Poll interval for changes, ms. Default {@link SENSOR_INTERVAL}. */
	readonly interval?: number;
	readonly timer: TimerModule;
}

/** Shortest poll interval of a sensor, and so the shortest time between two reports, ms. */
const SENSOR_INTERVAL = 1_000;

/** Rounds a value. Two decimals by default: the rest is noise. */
export const rounded = (value: number, decimals = 2): number => Math.round(value * 10 ** decimals) / 10 ** decimals;

/** A sensor that the SDK has a driver for. It is polled to notice changes. */
export class SampledSensor<Sample, Value extends Reading> implements Sensor {
	onChange: ((reading: Reading) => void) | undefined;
	/** The latest value, for as long as the driver has no newer one. Undefined after an error. */
	latest: Value | undefined;
	private readonly options: SampledSensorOptions<Sample, Value>;
	private readonly watch: TimerHandle;
	/** The value reported last, or read first. */
	private reported: Value | undefined;

	constructor(options: SampledSensorOptions<Sample, Value>) {
		this.options = options;
		this.watch = options.timer.repeat(() => this.sample(), options.interval ?? SENSOR_INTERVAL);
	}

	get title(): string | undefined {
		return this.options.title;
	}

	get kind(): string {
		return this.options.describe().kind;
	}

	get unit(): Sensor["unit"] {
		return this.options.describe().unit;
	}

	read(): Value {
		const { source, pick } = this.options;
		const { latest } = this;
		this.latest = undefined;
		const sample = source.sample();
		const value = (sample === undefined ? undefined : pick(sample)) ?? latest;
		if (value === undefined) {
			throw new Error("the sensor has no reading yet");
		}
		this.latest = value;
		this.reported ??= value;
		return value;
	}

	close(): void {
		this.options.timer.clear(this.watch);
		this.options.source.close?.();
	}

	private sample(): void {
		let value: Value;
		try {
			value = this.read();
		} catch {
			// Callers of `read` get the error.
			return;
		}
		if (this.options.differs(value, this.reported as Value)) {
			this.reported = value;
			this.onChange?.(value);
		}
	}
}
