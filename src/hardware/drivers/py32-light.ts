import { openBusChip, type SmBusDevice, type SmBusRecord } from "./bus-chip.js";
import { ColoredLight } from "./light-state.js";

/** Registers of the firmware of M5Stack's I/O expander: the number of its LEDs, with a bit that shows them, and their colours. */
const LEDS = 0x24;
const SHOW = 0x40;
const COLORS = 0x30;

const ADDRESS = 0x6f;

/** LEDs that an I/O expander with a PY32 drives, which all show the same. */
class Py32Light extends ColoredLight {
	private readonly length: number;
	private readonly chip: SmBusDevice;
	private sent: number | undefined;

	constructor(bus: SmBusRecord, length: number) {
		super();
		this.length = length;
		this.chip = openBusChip(bus, ADDRESS, (chip) => this.showOn(chip));
	}

	close(): void {
		this.chip.close();
	}

	protected show(): void {
		this.showOn(this.chip);
	}

	private showOn(chip: SmBusDevice): void {
		const brightness = this.on ? Math.round((this.brightness * 255) / 100) : 0;
		const part = (shift: number, bits: number): number =>
			((((this.color >> shift) & 0xff) * brightness) / 255) >> (8 - bits);
		const shown = (part(16, 5) << 11) | (part(8, 6) << 5) | part(0, 5);
		if (shown === this.sent) {
			return;
		}
		for (let at = COLORS; at < COLORS + 2 * this.length; at += 2) {
			chip.writeUint8(at, shown & 0xff);
			chip.writeUint8(at + 1, shown >> 8);
		}
		chip.writeUint8(LEDS, this.length | SHOW);
		this.sent = shown;
	}
}

/** Opens LEDs at an I/O expander. @throws Error if the chip does not answer */
const openPy32Light = (bus: SmBusRecord, length: number): Py32Light => new Py32Light(bus, length);

export default openPy32Light;
