import type { Light } from "../kinds/light.js";

/** The state of a dimmable light. Each change is shown at once. */
export abstract class DimmedLight implements Light {
	private _on = false;
	private _brightness: number;

	/** @param brightness percent, an integer from 0 to 100: the initial brightness */
	constructor(brightness: number) {
		this._brightness = brightness;
	}

	get on(): boolean {
		return this._on;
	}

	set on(on: boolean) {
		this._on = on;
		this.show();
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		this._brightness = brightness;
		this.show();
	}

	/** Applies the members to the light. */
	protected abstract show(): void;
}

/** The same, for an RGB light. Initially white, at half its brightness. */
export abstract class ColoredLight extends DimmedLight {
	private _color = 0xffffff;

	constructor() {
		super(50);
	}

	get color(): number {
		return this._color;
	}

	set color(color: number) {
		this._color = color;
		this.show();
	}
}
