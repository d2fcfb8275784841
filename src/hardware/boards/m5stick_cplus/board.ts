import config from "mc/config";
import { openFace } from "../../../screen/open-face.js";
import { openButton } from "../../drivers/button/open-button.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import { openImu, STANDARD_GRAVITY } from "../../drivers/imu/open-imu.js";
import { openOptional } from "../../drivers/open-optional.js";
import { PowerChip, type SdkPower } from "../../drivers/power-chip.js";
import { openPwmLight } from "../../drivers/pwm-light/open-pwm-light.js";
import { openRtc } from "../../drivers/rtc/open-rtc.js";
import type { Board } from "../../hardware.js";

/** M5StickC Plus: ESP32, upright screen, battery, buttons, LED, motion, clock. The power chip comes first. */
export const openBoard = () => {
	// The SDK's typings lack it.
	const { peripheral } = device as unknown as { readonly peripheral: { readonly Power: new () => SdkPower } };
	const power = new PowerChip(new peripheral.Power());
	const screen = openFace(new config.Screen({}), power);
	const buttons = { a: openButton({ pin: 37 }), b: openButton({ pin: 39 }) };
	const led = openPwmLight({ pin: 10, activeLow: true });
	const motion = openOptional("motion sensor", () => openImu(STANDARD_GRAVITY));
	const esp32 = openEsp32("m5stick_cplus", openOptional("real-time clock", openRtc));
	return {
		...esp32,
		screen,
		battery: power,
		buttons,
		lights: { led },
		...(motion && { sensors: { motion } }),
		close: () => closeAll(buttons.a, buttons.b, led, motion, esp32.network, screen),
	} satisfies Board;
};
