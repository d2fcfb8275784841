import { inBuild } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import type openNeoPixel from "./open-neopixel.js";
import { boardBus, openOptional } from "./open-optional.js";
import type openPwmLight from "./open-pwm-light.js";
import type openPy32Light from "./py32-light.js";

/** Opens the LEDs of a board as its lights. */
export default (({ data: { leds = {} }, board, closing }) => {
	const opened = Object.entries(leds).flatMap(([name, led]) => {
		const light = openOptional(`LED ${name}`, () =>
			"neopixel" in led
				? inBuild<typeof openNeoPixel>("src/hardware/drivers/open-neopixel")?.(led.neopixel, led.length, led.order)
				: "py32" in led
					? inBuild<typeof openPy32Light>("src/hardware/drivers/py32-light")?.(boardBus(), led.py32)
					: inBuild<typeof openPwmLight>("src/hardware/drivers/open-pwm-light")?.(led),
		);
		return light ? [[name, light]] : [];
	});
	const lights = Object.fromEntries(opened);
	Object.assign(board, { lights });
	closing.push(...(Object.values(lights) as typeof closing));
}) satisfies OpenMember;
