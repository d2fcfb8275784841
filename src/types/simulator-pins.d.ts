// A separate file because mcconfig needs it too: the SDK's typings lack these modules.

/** Messages from and to the simulated device's controls. */
declare module "control" {
	class Control {
		postJSON(message: object): void;
	}
	export default Control;
}

/** The simulated bus. */
declare module "embedded:io/bus" {
	type ChipAddress = number | string;
	type ChipValues = Readonly<Record<string, number>> | null;

	export function connectBus(
		show: (
			address: ChipAddress,
			part: string | undefined,
			type: string,
			values: Readonly<Record<string, number>>,
			isPlugged: boolean,
		) => void,
	): void;
	export function setChip(address: ChipAddress, values: ChipValues): void;
}

/** The sensors that the SDK has drivers for. */
declare module "embedded:io/sensors" {
	interface Reading {
		readonly min: number;
		readonly max: number;
		readonly unit?: string;
	}

	export const SENSORS: Readonly<Record<string, object>>;
	export function readingsOf(type: string): Readonly<Record<string, Reading>>;
}

/** The simulated pins, beside the classes that open them. */
declare module "embedded:io/pins" {
	type PinLevel = number | string;

	interface PinView {
		open(pin: number, kind: string, part: string | undefined, level: PinLevel): void;
		write(pin: number, value: PinLevel | object): void;
		close(pin: number): void;
	}

	export function connectPins(view: PinView): void;
	export function setPin(pin: number, level: PinLevel): void;
}
