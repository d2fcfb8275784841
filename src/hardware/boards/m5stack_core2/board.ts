/// <reference path="../../../types/ft6x06.d.ts" />
import Digital from "embedded:io/digital";
import FT6x06 from "embedded:sensor/Touch/FT6x06";
import config from "mc/config";
import { openFace } from "../../../screen/open-face.js";
import { openPreview } from "../../../screen/open-preview.js";
import openCodec from "../../../sound/open-codec.js";
import { openPlayer } from "../../../sound/open-player.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import { openImu, STANDARD_GRAVITY } from "../../drivers/imu/open-imu.js";
import { openOptional } from "../../drivers/open-optional.js";
import { PowerChip, type SdkPower } from "../../drivers/power-chip.js";
import { openRtc } from "../../drivers/rtc/open-rtc.js";
import { openTouch } from "../../drivers/touch/open-touch.js";
import type { Board } from "../../hardware.js";

interface Core2Power extends SdkPower {
	/** The supply of the amplifier. */
	readonly speaker: { enable: boolean };
}

/** The part of the SDK's target that is used. The SDK's typings lack it. */
interface Target {
	readonly I2C: { readonly internal: object };
	readonly io: { readonly SMBus: object };
	readonly peripheral: { readonly Power: new (options: object) => Core2Power };
}

const { I2C, io, peripheral } = device as unknown as Target;

/** The bus that the board's own chips are on. */
const BUS = { ...I2C.internal, io: io.SMBus };

/** The touch screen's interrupt: low while it is touched. */
const TOUCH_PIN = 39;

/** The target's own class for it needs the buttons of the target's setup, which is left out. */
class Touch extends FT6x06 {
	constructor(options: { readonly onSample: () => void }) {
		super({ ...options, sensor: BUS, interrupt: { io: Digital, mode: Digital.Input, pin: TOUCH_PIN } });
		this.configure({ threshold: 20 });
	}
}

/** M5Stack Core2: ESP32 with PSRAM, touch screen, speaker, microphone, battery, motion, clock. */
export const openBoard = () => {
	// Version 1.1 has an AXP2101, whose class wants the bus by this name, which the target's provider does not use.
	const chip = new peripheral.Power({ sensor: BUS });
	openOptional("amplifier", () => {
		chip.speaker.enable = true;
	});
	const power = new PowerChip(chip);
	const player = openPlayer(70);
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const touch = openOptional("touch screen", () => openTouch(Touch, { pin: TOUCH_PIN, high: false }));
	const motion = openOptional("motion sensor", () => openImu(STANDARD_GRAVITY));
	const esp32 = openEsp32("m5stack_core2", openOptional("real-time clock", openRtc));
	return {
		...esp32,
		speaker: player,
		player,
		// ESP-IDF delivers one channel of its PDM microphone. With one channel set, SDK 8.2.3 would drop every second sample.
		codec: openCodec(player, 2),
		screen,
		preview,
		battery: power,
		...(touch && { buttons: { screen: touch } }),
		...(motion && { sensors: { motion } }),
		close: () => closeAll(player, touch, motion, esp32.network, preview, screen),
	} satisfies Board;
};
