import { boot, receive, send } from "./bridge.js";

/** What a pin of the virtual device is: Node shows and sets it so. */
export type PinKind = "output" | "input" | "analog" | "pwm" | "servo" | "counter" | "pulse" | "pixels";

/** What a class opens a pin with. */
export interface PinOptions {
	readonly pin: number;
	/** The name of the part that has it, if it is one of a device of one's own. */
	readonly part?: string | undefined;
}

/** The highest number of a pin. */
const MAX_PIN = 54;

/** What Node has set from outside, by pin: it stays when a pin is closed. */
const levels = new Map<number, number>(boot.pins ?? []);

/** The pins that are open, and what is called when Node sets one. */
const open = new Map<number, ((level: number) => void) | undefined>();

receive("pin.set", ([pin, level]) => {
	levels.set(pin as number, level as number);
	open.get(pin as number)?.(level as number);
});

/**
 * Opens a pin.
 *
 * @param level what it has at first: the level outside, until Node sets another
 * @param onSet called when Node has set the level from outside
 * @throws Error if the number is none, or the pin is open already
 */
export function openPin(options: PinOptions, kind: PinKind, level: number, onSet?: (level: number) => void): number {
	const { pin, part } = options;
	if (!Number.isInteger(pin) || pin < 0 || pin > MAX_PIN) {
		throw new RangeError(`pin ${String(pin)}: expected a number from 0 to ${MAX_PIN}`);
	}
	if (open.has(pin)) {
		throw new Error(`pin ${pin} is in use`);
	}
	open.set(pin, onSet);
	send(["pin.open", pin, kind, part, levelOf(pin, level)]);
	return pin;
}

/** The level that Node has set; `initial` if it has set none. */
export function levelOf(pin: number, initial: number): number {
	return levels.get(pin) ?? initial;
}

/** Tells Node what the firmware does with a pin. */
export function showPin(pin: number, value: number | object): void {
	send(["pin.write", pin, value]);
}

export function closePin(pin: number): void {
	if (open.delete(pin)) {
		send(["pin.close", pin]);
	}
}
