// A separate file because mcconfig needs it too: the SDK's typings lack these modules.

/** The button of the simulator's device. */
declare module "button" {
	class Button {
		/** @param options `onPush` is called with 1 when the button goes down, and with 0 when it comes up */
		constructor(options: { readonly onPush: (value: number) => void });
	}
	export default Button;
}

/** The LED of the simulator's device. */
declare module "led" {
	class LED {
		/** @param value 1 for on, 0 for off */
		write(value: number): void;
	}
	export default LED;
}
