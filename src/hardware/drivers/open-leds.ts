import { inBuild } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import { neoPixelLight, type Pixels } from "./light-neopixel.js";
import { openPwmLight, type PwmClass } from "./light-pwm.js";
import { boardBus, openOptional } from "./open-optional.js";
import type openPy32Light from "./py32-light.js";

/** Opens the LEDs of a board as its lights. The build has the modules that they need. */
export default (({ data: { leds = {} }, board, log }) => {
	const load = <Export>(module: string): Export => inBuild<Export>(module) as Export;
	const opened = Object.entries(leds).flatMap(([name, led]) => {
		const light = openOptional(log, `LED ${name}`, () => {
			if ("neopixel" in led) {
				const { neopixel: pin, length = 1, order = "GRB" } = led;
				return neoPixelLight(new (load<new (options: object) => Pixels>("neopixel"))({ pin, length, order }));
			}
			return "py32" in led
				? load<typeof openPy32Light>("src/hardware/drivers/py32-light")(boardBus(), led.py32)
				: openPwmLight({ ...led, io: load<PwmClass>("embedded:io/pwm") });
		});
		return light ? [[name, light] as const] : [];
	});
	Object.assign(board, { lights: Object.fromEntries(opened) });
}) satisfies OpenMember;
