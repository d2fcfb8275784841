import type { WakePin } from "../hardware.js";
import { definePartKind } from "./part-kind.js";

/** A press of a button. */
export interface Press {
	/** Whether the button is held down for long. A long press is reported while the button is still held. */
	readonly long: boolean;
	/** How long the button was down, ms. */
	readonly milliseconds: number;
}

/** A button, or a touch screen as a whole. */
export interface Button {
	/** Called once for each press: a short one when it ends, a long one as soon as it is long. */
	onPress: ((press: Press) => void) | undefined;
	/** Called when a long press ends, with its duration in milliseconds. */
	onRelease?: ((milliseconds: number) => void) | undefined;
	/** Its pin of the chip; absent without one. */
	readonly wakePin?: WakePin | undefined;
	/** Whether its presses are only reported: it is a part of a maker's device. */
	readonly isReportOnly?: boolean;
}

/** Returns the name of the main button, which starts and stops listening: the first one that is not only reported. */
export const mainButtonOf = (buttons: Readonly<Record<string, Button>> = {}): string | undefined =>
	Object.keys(buttons).find((name) => buttons[name]?.isReportOnly !== true);

export const button = definePartKind<Button>()({
	name: "button",
	plural: "buttons",
	status: [],
	event: {
		name: "button.pressed",
		by: "onPress",
		data: [
			{ name: "long", type: "boolean" },
			{ name: "milliseconds", type: "number", isOptional: true },
		],
	},
});
