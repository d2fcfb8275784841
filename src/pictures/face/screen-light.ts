import type { Backlight } from "../../hardware/hardware.js";

/** How brightly a screen is lit: its brightness, as far as the light is on. */
export class ScreenLight {
	/** Percent, as a person has set it. */
	brightness = 75;
	/** Percent of the brightness: less while the screen is dimmed. */
	percent = 100;
	private readonly backlight: Backlight | undefined;

	/** @param backlight undefined: the screen shows its brightness in its colours */
	constructor(backlight: Backlight | undefined) {
		this.backlight = backlight;
	}

	/** Whether the backlight is off: nobody sees what is drawn. */
	get isDark(): boolean {
		return this.percent === 0 && this.backlight !== undefined;
	}

	/** The brightness of the colours, in percent. */
	get ofColours(): number {
		return this.backlight === undefined ? this.lit : 100;
	}

	/**
	 * Lights the screen as brightly as it should be.
	 *
	 * @returns whether it has to be drawn again: the colours have changed, or nothing was drawn in the dark
	 */
	apply(): boolean {
		if (this.backlight === undefined) {
			return true;
		}
		const wasDark = this.backlight.brightness === 0;
		this.backlight.brightness = this.lit;
		return wasDark;
	}

	/** Rounded up: a dimmed screen is not off. */
	private get lit(): number {
		return Math.ceil((this.brightness * this.percent) / 100);
	}
}
