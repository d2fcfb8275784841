import { type ShownLight, shownLight } from "./light-state.js";

/** A PWM output of ECMA-419. */
export interface PwmOutput {
	/** Bits of the value that is written. */
	readonly resolution: number;
	write(value: number): void;
	close(): void;
}

/** ECMA-419's class of PWM outputs. */
export type PwmClass = new (options: { pin: number; hz?: number; part?: string | undefined }) => PwmOutput;

interface PwmLightOptions {
	readonly io: PwmClass;
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

/** Opens an LED on a pin, dimmed by PWM. */
export const openPwmLight = ({
	io,
	pin,
	hz,
	activeLow = false,
	range: [lowest, most] = [0, 100],
	part,
}: PwmLightOptions): ShownLight => {
	const output = new io({ pin, part, ...(hz !== undefined && { hz }) });
	const full = 2 ** output.resolution - 1;
	const state = { on: false, brightness: 100 };
	const show = ({ on, brightness }: typeof state): void => {
		const duty = lowest + ((most - lowest) * brightness) / 100;
		const value = on ? Math.round((full * duty) / 100) : 0;
		output.write(activeLow ? full - value : value);
	};
	show(state);
	return shownLight(state, show, () => output.close());
};
