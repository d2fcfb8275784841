import { openButton } from "../../drivers/button/open-button.js";
import { openCamera } from "../../drivers/camera/open-camera.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import { openPwmLight } from "../../drivers/pwm-light/open-pwm-light.js";
import type { Board } from "../../hardware.js";

/** Seeed Studio XIAO ESP32S3 Sense: ESP32-S3 with PSRAM, camera, button, LED. The microphone is not used. */
export const openBoard = () => {
	const button = openButton({ pin: 0 });
	const led = openPwmLight({ pin: 21, activeLow: true });
	const esp32 = openEsp32("xiao_esp32s3_sense");
	return {
		...esp32,
		camera: openCamera({ width: 640, height: 480 }),
		buttons: { boot: button },
		bootButton: () => button,
		lights: { led },
		close: () => closeAll(button, led, esp32.network),
	} satisfies Board;
};
