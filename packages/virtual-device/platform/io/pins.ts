/** The kinds of pins, by which views show and set them. Those with a maximum are set from outside. */
const KINDS = {
	output: {},
	input: { maximum: 1 },
	/** The value of a converter. */
	analog: { maximum: 4_095 },
	pwm: {},
	servo: {},
	counter: { maximum: 1_000_000_000 },
	/** Microseconds. */
	pulse: { maximum: 1_000_000 },
	pixels: {},
	/** Characters of a line. */
	receive: { maximum: 1_000 },
	transmit: {},
};

export type PinKind = keyof typeof KINDS;

export const PIN_KINDS: Readonly<Record<PinKind, { readonly maximum?: number }>> = KINDS;

/** The level outside of a pin: a number, or the line that a serial port receives. */
export type PinLevel = number | string;

/** Options to open a pin. */
export interface PinOptions {
	readonly pin: number;
	/** The name of its part, in a project with parts. */
	readonly part?: string | undefined;
}

/** Shows the pins: Node for a virtual device, the panel of Moddable's simulator, a test. */
export interface PinView {
	/** @throws Error if the pin must not be opened */
	open(pin: number, kind: PinKind, part: string | undefined, level: PinLevel): void;
	write(pin: number, value: PinLevel | object): void;
	close(pin: number): void;
}

/** The highest number of a pin. */
const MAX_PIN = 54;

const state = {
	view: undefined as PinView | undefined,
	/** The levels outside, by pin. They are kept when a pin is closed. */
	levels: new Map<number, PinLevel>(),
	/** The open pins, with a callback for a new level outside. */
	open: new Map<number, ((level: PinLevel) => void) | undefined>(),
};

/** Sets the view that shows the pins, none of which is open yet, and their levels outside. */
export function connectPins(view: PinView, levels: Iterable<readonly [pin: number, level: PinLevel]> = []): void {
	Object.assign(state, { view, levels: new Map(levels), open: new Map() });
}

/** Sets a pin from outside. */
export function setPin(pin: number, level: PinLevel): void {
	state.levels.set(pin, level);
	state.open.get(pin)?.(level);
}

/** A pin that a class of ECMA-419 has opened. */
export class Pin<Level extends PinLevel = number> {
	readonly #pin: number;
	readonly #initial: Level;

	/**
	 * @param initial the level outside until another one is set
	 * @param onSet called when the level was set from outside
	 * @throws RangeError for an invalid number, Error if the pin is already open
	 */
	constructor({ pin, part }: PinOptions, kind: PinKind, initial: Level, onSet?: (level: Level) => void) {
		if (!Number.isInteger(pin) || pin < 0 || pin > MAX_PIN) {
			throw new RangeError(`pin ${String(pin)}: expected a number from 0 to ${MAX_PIN}`);
		}
		if (state.open.has(pin)) {
			throw new Error(`pin ${pin} is in use`);
		}
		this.#pin = pin;
		this.#initial = initial;
		state.view?.open(pin, kind, part, this.outside);
		state.open.set(pin, onSet as ((level: PinLevel) => void) | undefined);
	}

	get format(): string {
		return "number";
	}

	close(): void {
		if (state.open.delete(this.#pin)) {
			state.view?.close(this.#pin);
		}
	}

	/** The level that was set from outside; the initial one if none was. */
	protected get outside(): Level {
		return (state.levels.get(this.#pin) as Level | undefined) ?? this.#initial;
	}

	/** Shows the value that the firmware gives the pin. */
	protected show(value: PinLevel | object): void {
		state.view?.write(this.#pin, value);
	}
}
