import { DigitalButton, type DigitalButtonOptions } from "../drivers/button-digital.js";
import type { Press } from "../kinds/button.js";
import { aFlag, aPin, DIGITAL, type OpenedPart, optionFault, type Part, Retried } from "./part.js";

export interface ButtonOptions {
	readonly pin: number;
	/** Whether the pin is high while the button is down. Default false: the button connects the pin to ground. */
	readonly activeHigh?: boolean;
	/** Whether it may be the main button, which starts and stops listening. Default false. */
	readonly assistant?: boolean;
}

/**
 * A button of the device: its presses are reported, and run its handlers and rules.
 *
 * @example
 * bell: button({ pin: 0 })
 */
export const button = (options: ButtonOptions): Part<"button"> => {
	const { pin, activeHigh = false, assistant = false } = options;
	return {
		makes: "button",
		pins: [{ pin, use: "input", pull: activeHigh ? undefined : "up" }],
		fault: optionFault(options, { pin: aPin, activeHigh: aFlag, assistant: aFlag }),
		open: (io) => {
			const part: { onPress: ((press: Press) => void) | undefined } & OpenedPart<"button"> = {
				onPress: undefined,
				wakePin: { pin, high: activeHigh },
				isReportOnly: !assistant,
				close: () => opened.close(),
			};
			const opened = new Retried(io, () => {
				const { timer, ticks } = io;
				const each = new DigitalButton({
					io: io.load<DigitalButtonOptions["io"]>(DIGITAL),
					pin,
					activeHigh,
					part: io.name,
					timer,
					ticks,
				});
				each.onPress = (press) => part.onPress?.(press);
				return each;
			});
			return part;
		},
	};
};
