import type { Light } from "../kinds/light.js";

/** A light whose changes are shown at once. */
export class ShownLight implements Light {
	readonly close: () => void;
	private readonly show: (light: Readonly<ShownLight>) => void;
	private _on = false;
	private _brightness: number;
	private _color: number | undefined;

	/**
	 * @param show applies the members to the light
	 * @param brightness percent, an integer from 0 to 100: the initial brightness
	 * @param color initial colour, 0xRRGGBB. Default: it cannot be set
	 */
	constructor(show: ShownLight["show"], close: () => void, brightness = 100, color?: number) {
		this.show = show;
		this.close = close;
		this._brightness = brightness;
		this._color = color;
	}

	get on(): boolean {
		return this._on;
	}

	set on(on: boolean) {
		this._on = on;
		this.show(this);
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		this._brightness = brightness;
		this.show(this);
	}

	get color(): number | undefined {
		return this._color;
	}

	set color(color: number) {
		this._color = color;
		this.show(this);
	}
}
