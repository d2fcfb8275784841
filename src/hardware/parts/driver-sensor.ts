import type { SampledSource } from "../drivers/sensor-sampled.js";
import {
	ANALOG,
	aNumber,
	anInteger,
	anything,
	aPin,
	DIGITAL,
	optional,
	optionFault,
	type Part,
	type PinUse,
	type UsedPin,
} from "./part.js";
import { openPolled, SENSOR_CHECKS, type SensorOptions, stepOf, unitOf } from "./polled-sensor.js";
import { flattened, type Values } from "./sample-values.js";

/** A class of ECMA-419's sensors (§13), such as the SDK's drivers. */
export interface SensorDriver {
	/** The module of its bus or pin. Default: that of the options. */
	readonly io?: string;
	new (options: never): SampledSource<object>;
}

/** Connection of a sensor. */
interface Connection {
	/** A bus of the target: "default"; or its pins, if it has none. */
	readonly bus?: string | { readonly data: number; readonly clock: number };
	/** On the bus. Default: the driver's. */
	readonly address?: number;
	/** Frequency of the bus, Hz. Default: the driver's. */
	readonly hz?: number;
	/** Number of the pin, for a sensor on its own pin. */
	readonly pin?: number;
	/** A second pin, such as the trigger of an HC-SR04: an output. */
	readonly trigger?: number;
}

export interface DriverOptions extends SensorOptions, Connection {
	/** The module of its bus or pin. Default "embedded:io/smbus"; of a pin "embedded:io/pulsewidth" with a trigger, else "embedded:io/analog". */
	readonly io?: string;
	/** Options for the driver's `configure`, once it is open. */
	readonly configure?: object;
	/** Factors of its values, by their names, where a driver has other units: `{ humidity: 100 }`. */
	readonly scale?: Readonly<Record<string, number>>;
}

/** The bus with all methods of ECMA-419: those for registers (§10.5.4), and those of I2C. */
const SMBUS = "embedded:io/smbus";
const PULSE_WIDTH = "embedded:io/pulsewidth";
/** Modules of sensors that use one pin for requests and answers. */
const ONE_WIRE = "onewire";
const DHT = "dht";

/** The highest address on a bus. */
const MAX_ADDRESS = 0x3ff;

/**
 * A sensor that a driver of ECMA-419 reads. The members of its samples become its values: `{ temperature, humidity }`.
 *
 * @param Driver its class; the build includes the driver's manifest
 * @example
 * air: sensor(SHT3x, { bus: "default" })
 */
export const sensor = (Driver: SensorDriver, options: DriverOptions = {}): Part<"sensor"> => {
	const { bus, address, pin, configure, scale, threshold } = options;
	const isClass = typeof Driver === "function";
	const module = moduleOf(Driver, options);
	const isDrivers = module === Driver?.io;
	const factor = aNumber(-Number.MAX_VALUE, Number.MAX_VALUE);
	return {
		makes: "sensor",
		pins: pinsOf(options, module),
		loads: [module],
		fault: optionFault(
			options,
			{
				...SENSOR_CHECKS,
				bus: () => typeof bus === "object" && (aPin("bus.data", bus.data) || aPin("bus.clock", bus.clock)),
				address: optional(anInteger(0, MAX_ADDRESS)),
				hz: anything,
				pin: optional(aPin),
				io: anything,
				trigger: optional(aPin),
				configure: anything,
				scale: anything,
			},
			!isClass && "the driver: expected a class of a module such as embedded:sensor/…",
			isClass && typeof Driver.prototype?.sample !== "function" && "the driver has no sample()",
			isDrivers && module === SMBUS && bus === undefined && 'bus: expected "default" or { data, clock }',
			isDrivers && module !== SMBUS && pin === undefined && "pin: expected the number of the sensor's pin",
			bus === undefined && pin === undefined && 'bus: expected "default", { data, clock }, or a pin instead',
			...Object.entries(scale ?? {}).map(([name, each]) => factor(`scale.${name}`, each)),
		),
		open: (io) => {
			let values: Values = { kinds: [], reading: undefined };
			const describe = () => describeValues(values, options);
			return openPolled<object>(io, {
				...options,
				source: () => {
					const { load } = io;
					const given = typeof bus === "string" ? io.bus(bus) : (bus ?? { pin });
					const at = {
						...given,
						io: load(module),
						part: io.name,
						...(address !== undefined && { address }),
						...(options.hz !== undefined && { hz: options.hz }),
					};
					const trigger = options.trigger !== undefined && {
						trigger: { io: load(DIGITAL), pin: options.trigger },
					};
					const opened = new Driver({ sensor: at, ...trigger } as never) as SampledSource<object> & {
						configure?(options: object): void;
					};
					if (configure !== undefined) {
						opened.configure?.({ ...configure });
					}
					return opened;
				},
				describe,
				pick: (sample) => {
					values = flattened(sample, scale);
					return values.reading;
				},
				step: (kind) => threshold ?? stepOf(kind ?? describe().kind),
			});
		},
	};
};

const moduleOf = (Driver: SensorDriver | undefined, { io, bus, trigger }: DriverOptions): string =>
	io ?? Driver?.io ?? (bus !== undefined ? SMBUS : trigger === undefined ? ANALOG : PULSE_WIDTH);

const pinsOf = ({ bus, pin, trigger }: DriverOptions, module: string): UsedPin[] => {
	const uses: Readonly<Record<string, PinUse>> = { [ANALOG]: "analog", [ONE_WIRE]: "output", [DHT]: "output" };
	const use = uses[module] ?? "input";
	return [
		...(typeof bus === "object" ? [bus.data, bus.clock].map((pin) => ({ pin, use: "bus" as const })) : []),
		...(pin === undefined ? [] : [{ pin, use }]),
		...(trigger === undefined ? [] : [{ pin: trigger, use: "output" as const }]),
	];
};

/** A single value has its kind; several have their kinds as names. */
const describeValues = ({ kinds }: Values, { kind, unit }: SensorOptions) => {
	const [only] = kinds;
	if (kind !== undefined || kinds.length === 1) {
		const named = kind ?? (only as string);
		return { kind: named, unit: unit ?? unitOf(named) };
	}
	const units = kinds.flatMap((name) => {
		const known = unitOf(name);
		return known === undefined ? [] : [[name, known] as const];
	});
	return { kind: "combined", unit: unit ?? Object.fromEntries(units) };
};
