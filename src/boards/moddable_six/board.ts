import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openPlayer } from "../../platform/audio.js";
import { openBacklight } from "../../platform/backlight.js";
import { openButton } from "../../platform/button.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openNeoPixel } from "../../platform/neopixel.js";
import { openPreview } from "../../platform/preview.js";

/** Moddable Six: ESP32-S3 with PSRAM, screen, speaker, button, LED. */
export function openBoard() {
	const screen = openFace(new config.Screen({}), openBacklight());
	const preview = openPreview(screen);
	const player = openPlayer(70);
	const button = openButton({ pin: 0 });
	const led = openNeoPixel({ pin: 48, length: 1, order: "GRB" });
	const esp32 = openEsp32("moddable_six");
	return {
		...esp32,
		speaker: player,
		player,
		screen,
		preview,
		buttons: { flash: button },
		lights: { led },
		close() {
			player.close();
			button.close();
			led.close();
			esp32.network.close();
			preview.close();
			screen.close();
		},
	} satisfies Board;
}
