import { DimmedLight } from "./light-state.js";

/** A PWM output of ECMA-419. */
export interface PwmOutput {
	/** Bits of the value that is written. */
	readonly resolution: number;
	write(value: number): void;
	close(): void;
}

export interface PwmLightOptions {
	readonly io: new (options: { pin: number; hz?: number; part?: string | undefined }) => PwmOutput;
	readonly pin: number;
	/** Default: the chip's. */
	readonly hz?: number;
	/** Percent of the time that the LED shines at its lowest and at full brightness. Default: 0 and 100. */
	readonly range?: readonly [lowest: number, full: number];
	/** Its name on a virtual device. */
	readonly part?: string;
	/** Whether the LED shines while the pin is low. Default: while it is high. */
	readonly activeLow?: boolean;
}

/** An LED on a pin, dimmed by switching it fast. */
export class PwmLight extends DimmedLight {
	private readonly output: PwmOutput;
	private readonly activeLow: boolean;
	private readonly range: readonly [lowest: number, full: number];

	constructor({ io, pin, hz, activeLow = false, range = [0, 100], part }: PwmLightOptions) {
		super(100);
		this.output = new io({ pin, part, ...(hz !== undefined && { hz }) });
		this.activeLow = activeLow;
		this.range = range;
		this.show();
	}

	close(): void {
		this.output.close();
	}

	protected show(): void {
		const full = 2 ** this.output.resolution - 1;
		const [lowest, most] = this.range;
		const duty = lowest + ((most - lowest) * this.brightness) / 100;
		const value = this.on ? Math.round((full * duty) / 100) : 0;
		this.output.write(this.activeLow ? full - value : value);
	}
}
