import { openOnBus, type SmBusRecord } from "./bus-chip.js";
import { neoPixelLight } from "./light-neopixel.js";

/** Registers of M5Stack's I/O expander: the number of LEDs, with a bit that shows them, and their colours. */
const LEDS = 0x24;
const SHOW = 0x40;
const COLORS = 0x30;

const ADDRESS = 0x6f;

/** Opens LEDs on an I/O expander with a PY32, which all show the same. @throws Error if the chip does not answer */
const openPy32Light = (bus: SmBusRecord, length: number) =>
	openOnBus(bus, ADDRESS, (chip) => {
		let shown: number | undefined;
		return neoPixelLight({
			brightness: 0,
			/** Makes a colour in RGB565. */
			makeRGB(...parts: [red: number, green: number, blue: number]): number {
				const [red, green, blue] = parts.map((part) => (part * this.brightness) / 255) as typeof parts;
				return ((red >> 3) << 11) | ((green >> 2) << 5) | (blue >> 3);
			},
			fill(color: number): void {
				if (color === shown) {
					return;
				}
				for (let at = COLORS; at < COLORS + 2 * length; at += 2) {
					chip.writeUint8(at, color & 0xff);
					chip.writeUint8(at + 1, color >> 8);
				}
				chip.writeUint8(LEDS, length | SHOW);
				shown = color;
			},
			update() {},
			close: () => chip.close(),
		});
	});

export default openPy32Light;
