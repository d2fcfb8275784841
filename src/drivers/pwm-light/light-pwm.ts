import { DimmedLight } from "../light-state.js";

/** A PWM output of ECMA-419, as far as it is used. */
export interface PwmOutput {
	/** Bits of the value that is written. */
	readonly resolution: number;
	write(value: number): void;
	close(): void;
}

export interface PwmLightOptions {
	readonly io: new (options: { pin: number }) => PwmOutput;
	readonly pin: number;
	/** Whether the LED shines while the pin is low. Default: while it is high. */
	readonly activeLow?: boolean;
}

/** An LED on a pin, dimmed by switching it fast. */
export class PwmLight extends DimmedLight {
	readonly #output: PwmOutput;
	readonly #activeLow: boolean;

	constructor({ io, pin, activeLow = false }: PwmLightOptions) {
		super(100);
		this.#output = new io({ pin });
		this.#activeLow = activeLow;
		this.show();
	}

	close(): void {
		this.#output.close();
	}

	protected show(): void {
		const full = 2 ** this.#output.resolution - 1;
		const value = this.on ? Math.round((full * this.brightness) / 100) : 0;
		this.#output.write(this.#activeLow ? full - value : value);
	}
}
