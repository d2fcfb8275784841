// A separate file because mcconfig needs it too: the SDK's typings lack these modules.

/** What is at the simulated device: messages from its controls, and to them. */
declare module "control" {
	class Control {
		postJSON(message: object): void;
	}
	export default Control;
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
