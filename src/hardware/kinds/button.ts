import type { WakePin } from "../power.js";
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
	/** The chip's pin that it is on; absent if it is on none. */
	readonly wakePin?: WakePin | undefined;
}

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
