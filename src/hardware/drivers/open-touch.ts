import Digital from "embedded:io/digital";
import Time from "time";
import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import { TouchButton, type TouchSensor } from "./button-touch.js";
import { boardBus, chipClass } from "./open-optional.js";

/** A class of the SDK for touch sensors. */
type Driver = new (options: object) => TouchSensor & { configure?(options: object): void };

/** Pressure of a finger, for drivers that have a threshold: less than the drivers' own, which misses light ones. */
const THRESHOLD = 20;

/** Opens the touch screen of a board as the button "screen". */
export default (({ data, board }) => {
	const { driver, address, interrupt, reset, i2c } = typeof data.touch === "object" ? data.touch : {};
	const options = driver !== undefined && {
		sensor: { ...boardBus(driver === "gt911" ? "I2C" : "SMBus"), ...(address !== undefined && { address }), ...i2c },
		...(interrupt !== undefined && { interrupt: { io: Digital, mode: Digital.Input, pin: interrupt } }),
		...(reset !== undefined && { reset: { io: Digital, mode: Digital.Output, pin: reset } }),
	};
	const open = (onSample: () => void): TouchSensor => {
		const Touch = chipClass<Driver>(driver, "sensor", "Touch");
		const touch = new Touch({ ...options, onSample });
		if (driver !== undefined) {
			touch.configure?.({ threshold: THRESHOLD });
		}
		return touch;
	};
	const wakePin = interrupt === undefined ? undefined : { pin: interrupt, high: driver === "gt911" };
	const screen = new TouchButton({ open, timer: Timer, ticks: () => Time.ticks, wakePin });
	Object.assign(board, { buttons: { ...board.buttons, screen } });
}) satisfies OpenMember;
