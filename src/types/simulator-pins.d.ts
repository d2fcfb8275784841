// A separate file because mcconfig needs it too: the SDK's typings lack these modules.

/** Messages from and to the simulated device's controls. */
declare module "control" {
	class Control {
		postJSON(message: object): void;
	}
	export default Control;
}

/** The simulated bus, and the class that opens it. */
declare module "embedded:io/bus" {
	type ChipValues = Readonly<Record<string, number>> | null;

	export function connectBus(
		show: (
			address: number,
			part: string | undefined,
			type: string,
			values: Readonly<Record<string, number>>,
			isPlugged: boolean,
		) => void,
	): void;
	export function setChip(address: number, values: ChipValues): void;
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
