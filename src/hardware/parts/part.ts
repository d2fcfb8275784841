import type { DigitalInput, DigitalClass as InputClass } from "../drivers/button-digital.js";
import type { ShownLight } from "../drivers/light-state.js";
import type { Runtime, TimerHandle } from "../hardware.js";
import type { KindName, PartByKind } from "../kinds/index.js";
import type { Light } from "../kinds/light.js";

/** A part's use of a pin. Parts on one bus share its pins. */
export type PinUse = "input" | "output" | "analog" | "bus";

/** A pin of a part, for the check against the chip. */
export interface UsedPin {
	readonly pin: number;
	readonly use: PinUse;
	/** The chip's resistor to use at the pin. */
	readonly pull?: "up" | "down" | undefined;
}

/** The platform's services for a part that opens. */
export interface PartIo extends Runtime {
	/** The part's name. */
	readonly name: string;
	/**
	 * The default export of a module of the SDK: "embedded:io/digital".
	 *
	 * @throws Error if the build lacks it
	 */
	load<Export>(module: string): Export;
	/**
	 * A bus of the target, by its name: "default".
	 *
	 * @throws Error if the target has none of this name
	 */
	bus(name: string): object;
	/** A monotonic clock: milliseconds, as a 32-bit number. */
	readonly ticks: () => number;
}

/** An open part, as tools and clients use it. */
export type OpenedPart<Kind extends KindName = KindName> = NonNullable<PartByKind[Kind]> & {
	/** No session with the backend is left. */
	sessionEnded?(): void;
	close(): void;
};

/** A part as data, such as `relay({ pin: 26 })`. It does nothing until it is opened, so a chip keeps it in flash. */
export interface Part<Kind extends KindName = KindName> {
	/** Its kind of hardware: a build has the tools for it. */
	readonly makes: Kind;
	readonly pins: readonly UsedPin[];
	/** Number of the chip's UART that it opens. */
	readonly uart?: number;
	/** Modules of the SDK that it loads, except pins: digital, analog, PWM. Builds for chips include their manifests. */
	readonly loads?: readonly string[];
	/** The error in its options: "maxOn: expected …". Undefined if it can be used. */
	readonly fault: string | undefined;
	/** Opens it. Does not throw if it does not answer: it is tried again. */
	open(io: PartIo): OpenedPart<Kind>;
}

/** Options of every part. */
export interface PartOptions {
	/** Its name for people: "Water pump". */
	readonly title?: string;
}

/** A digital pin of ECMA-419 (§10.1). */
export interface DigitalPin extends DigitalInput {
	write(value: number): void;
}

/** ECMA-419's class of digital pins. */
export interface DigitalClass extends InputClass {
	readonly InputPullDown: number;
	readonly Output: number;
	new (options: object): DigitalPin;
}

/** The modules of digital, analog and PWM pins, which a build may lack. */
export const DIGITAL = "embedded:io/digital";
export const ANALOG = "embedded:io/analog";
export const PWM = "embedded:io/pwm";

/** The highest number that a pin of any chip has. */
const MAX_PIN = 54;

/** Checks the value of an option. Returns the error, or false if it is valid. */
type OptionCheck = (name: string, value: unknown) => string | false;

/** Returns the first error in the names of a part's options, in their values, or of further checks. */
export const optionFault = <Options extends object>(
	options: Options,
	checks: Readonly<Record<keyof Options, OptionCheck>>,
	...others: readonly (string | false)[]
): string | undefined => {
	const names = Object.keys(checks) as (keyof Options & string)[];
	const unknown = Object.keys(options).find((name) => !names.includes(name as keyof Options & string));
	if (unknown !== undefined) {
		return `unknown option ${unknown}, expected ${names.join(", ")}`;
	}
	const faults = [...names.map((name) => checks[name](name, options[name])), ...others];
	return faults.find((fault) => typeof fault === "string") as string | undefined;
};

/** Accepts any value, for a title. */
export const anything: OptionCheck = () => false;

/** Accepts the number of a pin. The build checks whether the chip has it. */
export const aPin: OptionCheck = (name, pin) => {
	const isPin = Number.isInteger(pin) && (pin as number) >= 0 && (pin as number) <= MAX_PIN;
	return !isPin && `${name}: expected the number of a pin, got ${shown(pin)}`;
};

/** Accepts true, false or no value. */
export const aFlag: OptionCheck = (name, value) =>
	value !== undefined && typeof value !== "boolean" && `${name}: expected true or false, got ${shown(value)}`;

/** Accepts the values of another check, or no value. */
export const optional =
	(check: OptionCheck): OptionCheck =>
	(name, value) =>
		value !== undefined && check(name, value);

const withinRange =
	(noun: string, isKind: (value: unknown) => boolean) =>
	(min: number, max: number, unit = ""): OptionCheck =>
	(name, value) => {
		const isIn = isKind(value) && (value as number) >= min && (value as number) <= max;
		const range = `from ${min} to ${max}${unit === "" ? "" : ` ${unit}`}`;
		return !isIn && `${name}: expected ${noun} ${range}, got ${shown(value)}`;
	};

/** Accepts a number within a range. */
export const aNumber = withinRange("a number", Number.isFinite);

/** Accepts a whole number within a range. */
export const anInteger = withinRange("a whole number", Number.isInteger);

/** Accepts one of some values. */
export const oneOf =
	(...values: readonly unknown[]): OptionCheck =>
	(name, value) => {
		const words = values.map(shown);
		const expected = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
		return !values.includes(value) && `${name}: expected ${expected}, got ${shown(value)}`;
	};

/** Returns the error of a range whose end is not above its start. */
export const rangeFault = (min: number, max: number): string | false =>
	min >= max && `max: expected more than min, ${min}, got ${max}`;

const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** Milliseconds until a part that does not answer is tried again; then twice as long, up to the longest. */
const FIRST_RETRY = 1_000;
const MAX_RETRY_DELAY = 60_000;

/** Something that may not answer, at the start or later. It is reopened until it does. */
export class Retried<Opened extends { close?(): void }> {
	readonly title: string | undefined;
	protected readonly io: PartIo;
	private readonly open: () => Opened;
	private opened: Opened | undefined;
	private _error: string | undefined;
	private delay = FIRST_RETRY;
	private retry: TimerHandle | undefined;

	/** Tries it at once. @param open throws if it does not answer */
	constructor(io: PartIo, open: () => Opened, title?: string) {
		this.io = io;
		this.open = open;
		this.title = title;
		this.try();
	}

	/** Why it cannot be used now; undefined if it can. */
	get error(): string | undefined {
		return this._error;
	}

	/** @throws Error that says why it cannot be used now */
	get value(): Opened {
		if (this.opened === undefined) {
			throw new Error(`${this.io.name}: ${this._error}`);
		}
		return this.opened;
	}

	/** Resets the delay before a retry, because it has answered. */
	works(): void {
		this.delay = FIRST_RETRY;
	}

	/** Closes it, because it does not answer any more, and reopens it later. */
	fail(error: unknown): void {
		const opened = this.opened;
		this.opened = undefined;
		closeQuietly(opened);
		this.later(error);
	}

	close(): void {
		this.io.timer.clear(this.retry);
		closeQuietly(this.opened);
		this.opened = undefined;
	}

	private try(): void {
		try {
			this.opened = this.open();
			this._error = undefined;
		} catch (error) {
			this.later(error);
		}
	}

	private later(error: unknown): void {
		const { name, timer, log } = this.io;
		const reason = error instanceof Error ? error.message : String(error);
		if (reason !== this._error) {
			log(`${name}: ${reason}; tried again`);
		}
		this._error = reason;
		timer.clear(this.retry);
		this.retry = timer.set(() => this.try(), this.delay);
		this.delay = Math.min(2 * this.delay, MAX_RETRY_DELAY);
	}
}

/** Closes without an error: closing also fails if the part does not answer. */
const closeQuietly = (opened: { close?(): void } | undefined): void => {
	try {
		opened?.close?.();
	} catch {
		// It is reopened anyway.
	}
};

/** A light whose pin may not be available at once. Until then it is off, and cannot be changed. */
export class RetriedLight extends Retried<ShownLight> implements Light {
	get on(): boolean {
		return this.error === undefined && this.value.on;
	}

	set on(on: boolean) {
		this.value.on = on;
	}

	get brightness(): number {
		return this.error === undefined ? this.value.brightness : 0;
	}

	set brightness(brightness: number) {
		this.value.brightness = brightness;
	}
}
