import type { TimerHandle } from "../hardware.js";
import type { Reading, Sensor } from "../kinds/sensor.js";
import {
	aNumber,
	anything,
	aPin,
	DIGITAL,
	type DigitalClass,
	type DigitalPin,
	oneOf,
	optional,
	optionFault,
	type Part,
	type PartIo,
	type PartOptions,
	Retried,
} from "./part.js";

export interface ContactOptions extends PartOptions {
	readonly pin: number;
	/** The chip's resistor at the pin. Default: none, because the circuit has one. */
	readonly pull?: "up" | "down";
	/** A device class of Home Assistant's binary sensors: "door", "window", "motion", … Default "opening". */
	readonly kind?: string;
	/** The level of the pin that is `true`. Default 1: a contact to ground with `pull: "up"` is `true` while it is open. */
	readonly active?: 0 | 1;
	/** Milliseconds that the level must last: contacts bounce. 0 to 60,000. Default 30. */
	readonly debounce?: number;
}

/** Longest time that a level must last, ms. */
const MAX_DEBOUNCE = 60_000;

const DEFAULT_DEBOUNCE = 30;

/**
 * A contact: a reed switch at a door, a float, a push button that is not a button of the device.
 *
 * @example
 * door: contact({ pin: 4, pull: "up" })
 */
export const contact = (options: ContactOptions): Part<"sensor"> => binaryPart({ kind: "opening", ...options });

/**
 * A motion sensor whose pin is high while something moves, such as an HC-SR501.
 *
 * @example
 * hall: motion({ pin: 27 })
 */
export const motion = (options: ContactOptions): Part<"sensor"> => binaryPart({ kind: "motion", ...options });

const binaryPart = (options: ContactOptions & { readonly kind: string }): Part<"sensor"> => {
	const { pin, pull } = options;
	return {
		makes: "sensor",
		pins: [{ pin, use: "input", pull }],
		fault: optionFault(options, {
			title: anything,
			kind: anything,
			pin: aPin,
			pull: optional(oneOf("up", "down")),
			active: optional(oneOf(0, 1)),
			debounce: optional(aNumber(0, MAX_DEBOUNCE, "milliseconds")),
		}),
		open: (io) => new PinSensor(options, io),
	};
};

/** A digital pin as a sensor of true and false. */
class PinSensor extends Retried<DigitalPin> implements Sensor {
	onChange: ((reading: Reading) => void) | undefined;
	readonly unit = undefined;
	readonly kind: string;
	private readonly active: number;
	private lasting: TimerHandle | undefined;

	constructor(options: ContactOptions & { readonly kind: string }, io: PartIo) {
		const { pin, pull, kind, title, active = 1, debounce = DEFAULT_DEBOUNCE } = options;
		const open = (): DigitalPin => {
			const { timer, name } = io;
			const Digital = io.load<DigitalClass>(DIGITAL);
			const opened = new Digital({
				pin,
				mode: pull === undefined ? Digital.Input : pull === "up" ? Digital.InputPullUp : Digital.InputPullDown,
				edge: Digital.Rising | Digital.Falling,
				// Debounces the level.
				onReadable: () => {
					timer.clear(this.lasting);
					this.lasting = timer.set(() => {
						const level = opened.read();
						if (level !== reported) {
							reported = level;
							this.onChange?.(level === active);
						}
					}, debounce);
				},
				part: name,
			});
			let reported = opened.read();
			return opened;
		};
		super(io, open, title);
		this.kind = kind;
		this.active = active;
	}

	read(): boolean {
		return this.value.read() === this.active;
	}

	override close(): void {
		this.io.timer.clear(this.lasting);
		super.close();
	}
}
