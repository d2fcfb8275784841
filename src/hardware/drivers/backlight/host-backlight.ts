import type { Backlight } from "../../hardware.js";

/** An instance of `Host.Backlight`, defined by the setup of some of the SDK's targets. */
interface BacklightOutput {
	write(percent: number): void;
}

/**
 * The backlight of a target whose setup in the SDK can dim it.
 *
 * @internal exported for a test
 */
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

/** The backlight of this target. The SDK's typings lack it. */
export const openBacklight = (): Backlight => {
	const { Host } = globalThis as unknown as { readonly Host: { readonly Backlight: new () => BacklightOutput } };
	return hostBacklight(new Host.Backlight());
};
