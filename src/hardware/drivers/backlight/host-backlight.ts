import type { Backlight } from "../../hardware.js";

/** An instance of `Host.Backlight`, defined by the setup of some of the SDK's targets. */
interface BacklightOutput {
	write(percent: number): void;
}

/** The backlight of a target whose setup in the SDK can dim it. */
export class HostBacklight implements Backlight {
	private readonly output: BacklightOutput;
	private _brightness = 100;

	constructor(output: BacklightOutput) {
		this.output = output;
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		this.output.write(brightness);
		this._brightness = brightness;
	}
}

/** The backlight of this target. The SDK's typings lack it. */
export const openBacklight = (): HostBacklight => {
	const { Host } = globalThis as unknown as { readonly Host: { readonly Backlight: new () => BacklightOutput } };
	return new HostBacklight(new Host.Backlight());
};
