import type { Light } from "../hardware/light.js";

/** What a light that can be dimmed is set to. It is shown anew whenever that changes. */
export abstract class DimmedLight implements Light {
	#on = false;
	#brightness: number;

	/** @param brightness percent, an integer from 0 to 100, with which it is turned on at first */
	constructor(brightness: number) {
		this.#brightness = brightness;
	}

	get on(): boolean {
		return this.#on;
	}

	set on(on: boolean) {
		this.#on = on;
		this.show();
	}

	get brightness(): number {
		return this.#brightness;
	}

	set brightness(brightness: number) {
		this.#brightness = brightness;
		this.show();
	}

	/** Makes the light as its members say. */
	protected abstract show(): void;
}

/** The same, for a light that has every colour. White at first, at half its brightness. */
export abstract class ColoredLight extends DimmedLight {
	#color = 0xffffff;

	constructor() {
		super(50);
	}

	get color(): number {
		return this.#color;
	}

	set color(color: number) {
		this.#color = color;
		this.show();
	}
}
