import Time from "time";
import Timer from "timer";
import { TouchButton, type TouchButtonOptions } from "../drivers/button-touch.js";

/** The touch screen of the target as a button. */
export function openTouch(): TouchButton {
	const { sensor } = device as unknown as { sensor: { Touch: TouchButtonOptions["io"] } };
	return new TouchButton({ io: sensor.Touch, timer: Timer, ticks: () => Time.ticks });
}
