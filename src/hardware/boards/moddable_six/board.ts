import config from "mc/config";
import NeoPixel from "neopixel";
import { openFace } from "../../../screen/open-face.js";
import { openPreview } from "../../../screen/open-preview.js";
import { openPlayer } from "../../../sound/open-player.js";
import { openBacklight } from "../../drivers/backlight/host-backlight.js";
import { openButton } from "../../drivers/button/open-button.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import { NeoPixelLight } from "../../drivers/neopixel/light-neopixel.js";
import type { Board } from "../../hardware.js";

/** Moddable Six: ESP32-S3 with PSRAM, screen, speaker, button, LED. */
export const openBoard = () => {
	const screen = openFace(new config.Screen({}), openBacklight());
	const preview = openPreview(screen);
	const player = openPlayer(70);
	const button = openButton({ pin: 0 });
	const led = new NeoPixelLight(new NeoPixel({ pin: 48, length: 1, order: "GRB" }));
	const esp32 = openEsp32("moddable_six");
	return {
		...esp32,
		speaker: player,
		player,
		screen,
		preview,
		buttons: { flash: button },
		bootButton: () => button,
		lights: { led },
		close: () => closeAll(player, button, led, esp32.network, preview, screen),
	} satisfies Board;
};
