import type { SmBusRecord } from "./axp2101.js";
import { NeoPixelLight } from "./light-neopixel.js";

/** Registers of the firmware of M5Stack's I/O expander: the number of its LEDs, with a bit that shows them, and their colours. */
const LEDS = 0x24;
const SHOW = 0x40;
const COLORS = 0x30;

const ADDRESS = 0x6f;

/** Opens LEDs that an I/O expander with a PY32 drives, which all show the same. @throws Error if the chip does not answer */
const openPy32Light = (bus: object, length: number): NeoPixelLight => {
	const { io, ...pins } = bus as SmBusRecord;
	const chip = new io({ ...pins, address: ADDRESS, hz: 100_000 });
	let shown = 0;
	let sent: number | undefined;
	const pixels = {
		brightness: 0,
		/** 16 bits: 5, 6 and 5. */
		makeRGB(...parts: [red: number, green: number, blue: number]): number {
			const [red, green, blue] = parts.map((part) => (part * pixels.brightness) / 255) as typeof parts;
			return ((red >> 3) << 11) | ((green >> 2) << 5) | (blue >> 3);
		},
		fill(color: number): void {
			shown = color;
		},
		update(): void {
			if (shown === sent) {
				return;
			}
			for (let at = COLORS; at < COLORS + 2 * length; at += 2) {
				chip.writeUint8(at, shown & 0xff);
				chip.writeUint8(at + 1, shown >> 8);
			}
			chip.writeUint8(LEDS, length | SHOW);
			sent = shown;
		},
		close: () => chip.close(),
	};
	try {
		return new NeoPixelLight(pixels);
	} catch (error) {
		chip.close();
		throw error;
	}
};

export default openPy32Light;
