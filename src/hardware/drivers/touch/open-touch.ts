import Time from "time";
import Timer from "timer";
import { TouchButton, type TouchButtonOptions } from "./button-touch.js";

/**
 * The touch screen as a button.
 *
 * @param io its class. Default: the target's
 * @param wakePin of its interrupt, if that leads to a pin of the chip
 */
export const openTouch = (io?: TouchButtonOptions["io"], wakePin?: TouchButtonOptions["wakePin"]): TouchButton => {
	const { sensor } = device as unknown as { sensor: { Touch: TouchButtonOptions["io"] } };
	return new TouchButton({ io: io ?? sensor.Touch, timer: Timer, ticks: () => Time.ticks, wakePin });
};
