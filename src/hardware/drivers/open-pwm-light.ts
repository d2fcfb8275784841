import PWM from "embedded:io/pwm";
import { PwmLight, type PwmLightOptions } from "./light-pwm.js";

/** Opens an LED on a pin of the chip. */
const openPwmLight = (options: Pick<PwmLightOptions, "pin" | "activeLow">): PwmLight =>
	new PwmLight({ ...options, io: PWM as unknown as PwmLightOptions["io"] });

export default openPwmLight;
