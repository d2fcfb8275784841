import Digital from "embedded:io/digital";
import Time from "time";
import Timer from "timer";
import { findDriver } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import { TouchButton, type TouchButtonOptions } from "./button-touch.js";
import { boardBus, openOptional } from "./open-optional.js";

type TouchClass = TouchButtonOptions["io"];

/** A class of the SDK for touch sensors. */
type Driver = new (options: object) => InstanceType<TouchClass> & { configure?(options: object): void };

/** Pressure of a finger, for drivers that have a threshold: less than the drivers' own, which misses light ones. */
const THRESHOLD = 20;

/**
 * Opens the touch screen as a button.
 *
 * @param io its class. Default: the target's
 * @param wakePin of its interrupt, if that leads to a pin of the chip
 */
export const openTouch = (io?: TouchClass, wakePin?: TouchButtonOptions["wakePin"]): TouchButton => {
	const { sensor } = device as unknown as { sensor: { Touch: TouchClass } };
	return new TouchButton({ io: io ?? sensor.Touch, timer: Timer, ticks: () => Time.ticks, wakePin });
};

/** Opens the touch screen of a board, if it answers, as the button "screen". */
export default (({ data, board, closing }) => {
	const { driver, address, interrupt, reset, i2c } = typeof data.touch === "object" ? data.touch : {};
	const found = driver === undefined ? undefined : findDriver<Driver>(driver);
	const options = {
		sensor: { ...boardBus(driver === "gt911" ? "I2C" : "SMBus"), ...(address !== undefined && { address }), ...i2c },
		...(interrupt !== undefined && { interrupt: { io: Digital, mode: Digital.Input, pin: interrupt } }),
		...(reset !== undefined && { reset: { io: Digital, mode: Digital.Output, pin: reset } }),
	};
	const touchClass =
		found &&
		(function (this: unknown, { onSample }: { readonly onSample: () => void }) {
			const touch = new found({ ...options, onSample });
			touch.configure?.({ threshold: THRESHOLD });
			return touch;
		} as unknown as TouchClass);
	const wakePin = interrupt === undefined ? undefined : { pin: interrupt, high: driver === "gt911" };
	const touch = openOptional("touch screen", () => openTouch(touchClass, wakePin));
	if (touch !== undefined) {
		Object.assign(board, { buttons: { ...board.buttons, screen: touch } });
		closing.push(touch);
	}
}) satisfies OpenMember;
