import type { Backlight } from "../../hardware/hardware.js";

/** How brightly a screen is lit: its brightness, as far as the light is on. */
export class ScreenLight {
	private _brightness = 75;
	private _percent = 100;
	private readonly backlight: Backlight | undefined;

	/** @param backlight undefined: the screen shows its brightness in its colours */
	constructor(backlight: Backlight | undefined) {
		this.backlight = backlight;
	}

	/** Percent, as a person has set it. */
	get brightness(): number {
		return this._brightness;
	}

	/** Percent of the brightness: less while the screen is dimmed. */
	get percent(): number {
		return this._percent;
	}

	/** Whether the backlight is off: nobody sees what is drawn. */
	get isDark(): boolean {
		return this._percent === 0 && this.backlight !== undefined;
	}

	/** The brightness of the colours, in percent. */
	get ofColours(): number {
		return this.backlight === undefined ? lit(this._brightness, this._percent) : 100;
	}

	/**
	 * Lights the screen.
	 *
	 * @returns whether it has to be drawn again: the colours have changed, or nothing was drawn in the dark
	 * @throws Error if the backlight does not answer: nothing has changed then
	 */
	set(brightness: number, percent: number): boolean {
		const wasDark = this.backlight?.brightness === 0;
		if (this.backlight !== undefined) {
			this.backlight.brightness = lit(brightness, percent);
		}
		this._brightness = brightness;
		this._percent = percent;
		return wasDark || this.backlight === undefined;
	}
}

/** Rounded up: a dimmed screen is not off. */
const lit = (brightness: number, percent: number): number => Math.ceil((brightness * percent) / 100);
