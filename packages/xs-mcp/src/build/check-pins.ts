import type { Part, PinUse, UsedPin } from "../../../../src/hardware/parts/part.js";
import { CHIPS, type ChipPins } from "./chip-pins.js";

/** The result: an error for each part that cannot work, and a warning for each pin with a side effect. */
export interface PinCheck {
	readonly errors: readonly string[];
	readonly warnings: readonly string[];
}

/** Returns the reason why a part cannot use a pin, or its side effect. */
type PinRule = (used: UsedPin) => string | undefined;

/**
 * Checks the pins of parts against a chip and a board.
 *
 * @param chip ESP-IDF's name: "esp32s3". Only double use is found on a chip that is not known
 * @param errorOfBoard the board's use of a pin. Default: it uses none
 * @param warningOfBoard the board's part at a pin that it does not use. Default: none
 */
export function checkPins(
	parts: Readonly<Record<string, Part>>,
	chip: string,
	errorOfBoard: PinRule = () => undefined,
	warningOfBoard: PinRule = () => undefined,
): PinCheck {
	const errors: string[] = [];
	const warnings: string[] = [];
	const users = new Map<number, { readonly name: string; readonly use: PinUse }>();
	const known = CHIPS[chip];
	// A module with a part of the board at a pin of the flash has its flash elsewhere, as the ESP32-PICO.
	const chipAt = (used: UsedPin): ChipPins | undefined =>
		known && (warningOfBoard(used) === undefined ? known : { ...known, flash: [] });
	const rule: PinRule = (used) => {
		const chip = chipAt(used);
		return errorOfBoard(used) ?? (chip && errorOf(used, chip));
	};
	const sideEffect: PinRule = (used) => warningOfBoard(used) ?? (known && warningOf(used.pin, known));
	for (const [name, part] of Object.entries(parts)) {
		for (const used of part.pins) {
			const user = users.get(used.pin);
			const other = user?.use === "bus" && used.use === "bus" ? undefined : user?.name;
			const error = rule(used) ?? (other === undefined ? undefined : `is in use by ${quoted(other, name)}`);
			if (error !== undefined) {
				const taken = Object.values(parts).flatMap(({ pins }) => pins.map(({ pin }) => pin));
				const found = known && freePins(used, known, rule, sideEffect).filter((pin) => !taken.includes(pin));
				const others = found?.length === 0 ? "; no other pin would do" : `; these would do: ${found?.join(", ")}`;
				errors.push(`part ${name}: pin ${used.pin} ${error}${found === undefined ? "" : others}`);
			} else {
				const warning = sideEffect(used);
				warnings.push(...(warning === undefined ? [] : [`part ${name}: pin ${used.pin} ${warning}`]));
			}
			users.set(used.pin, { name, use: used.use });
		}
	}
	return { errors, warnings };
}

const quoted = (other: string, name: string): string => (other === name ? "this part already" : other);

function errorOf({ pin, use, pull }: UsedPin, chip: ChipPins): string | undefined {
	const { name, pins, flash, inputOnly, adc, adc2 } = chip;
	if (!pins.includes(pin)) {
		return `does not exist on the ${name}`;
	}
	if (flash.includes(pin)) {
		return `is connected to the flash of the ${name}`;
	}
	if ((use === "output" || use === "bus") && inputOnly.includes(pin)) {
		return `of the ${name} is only an input`;
	}
	if (pull !== undefined && inputOnly.includes(pin)) {
		return `of the ${name} has no resistor for pull: "${pull}"`;
	}
	if (use === "analog" && adc2.includes(pin)) {
		return `of the ${name} cannot measure while the Wi-Fi is on`;
	}
	return use === "analog" && !adc.includes(pin) ? `of the ${name} cannot measure a voltage` : undefined;
}

function warningOf(pin: number, { name, strapping, psram, usb, serial }: ChipPins): string | undefined {
	if (strapping.includes(pin)) {
		return `decides how the ${name} starts: what is connected must leave it alone then`;
	}
	if (psram.includes(pin)) {
		return `is connected to the flash or PSRAM in some modules with the ${name}`;
	}
	if (usb.includes(pin)) {
		return `is the USB port of the ${name}, which then ends`;
	}
	return serial.includes(pin) ? `is the serial port of the ${name}, which has its log` : undefined;
}

/** Returns the pins that would do, without a side effect. */
function freePins(used: UsedPin, { pins }: ChipPins, rule: PinRule, sideEffect: PinRule): readonly number[] {
	return pins.filter((pin) => [rule, sideEffect].every((each) => each({ ...used, pin }) === undefined));
}
