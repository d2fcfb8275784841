import Digital from "embedded:io/digital";
import Time from "time";
import Timer from "timer";
import { DigitalButton, type DigitalButtonOptions } from "./button-digital.js";

/** Opens a button on a pin of the chip. */
export const openButton = (options: Pick<DigitalButtonOptions, "pin" | "activeHigh">): DigitalButton =>
	new DigitalButton({ ...options, io: Digital, timer: Timer, ticks: () => Time.ticks });
