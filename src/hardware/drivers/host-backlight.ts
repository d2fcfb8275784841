import type { Backlight } from "../hardware.js";

/** An instance of `Host.Backlight`, defined by the setup of some of the SDK's targets. */
export interface BacklightOutput {
	write(percent: number): void;
}

/** Makes a backlight of an output, which is at its brightest at first. */
export const hostBacklight = (output: BacklightOutput): Backlight => {
	let current = 100;
	return {
		get brightness() {
			return current;
		},
		set brightness(brightness) {
			output.write(brightness);
			current = brightness;
		},
	};
};
