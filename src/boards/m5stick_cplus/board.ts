import config from "mc/config";
import { PowerChip, type SdkPower } from "../../drivers/power-chip.js";
import type { Board } from "../../hardware/hardware.js";
import { openButton } from "../../platform/button.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openImu, STANDARD_GRAVITY } from "../../platform/imu.js";
import { openOptional } from "../../platform/open-optional.js";
import { openPwmLight } from "../../platform/pwm-light.js";
import { openRtc } from "../../platform/rtc.js";

/** The part of the SDK's target that is used. The SDK's typings lack it. */
interface Target {
	readonly peripheral: { readonly Power: new () => SdkPower };
}

/**
 * M5StickC Plus: ESP32, a screen that is upright, battery, buttons, LED, motion sensor, real-time clock. The power chip
 * feeds the others, so it is opened first.
 */
export function openBoard() {
	const { peripheral } = device as unknown as Target;
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
		close() {
			buttons.a.close();
			buttons.b.close();
			led.close();
			motion?.close();
			esp32.network.close();
			screen.close();
		},
	} satisfies Board;
}
