import { type BacklightOutput, HostBacklight } from "./host-backlight.js";

/** Defined by the setup of some targets. The SDK's typings lack it. */
interface Global {
	readonly Host: { readonly Backlight: new () => BacklightOutput };
}

/** The backlight of a target whose setup in the SDK defines `Host.Backlight`. */
export function openBacklight(): HostBacklight {
	const { Host } = globalThis as unknown as Global;
	return new HostBacklight(new Host.Backlight());
}
