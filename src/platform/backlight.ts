import { type BacklightOutput, HostBacklight } from "../drivers/host-backlight.js";

/** What the setup of some targets defines. The SDK's typings do not have it. */
interface Global {
	readonly Host: { readonly Backlight: new () => BacklightOutput };
}

/** The backlight of a target whose setup in the SDK defines `Host.Backlight`. */
export function openBacklight(): HostBacklight {
	const { Host } = globalThis as unknown as Global;
	return new HostBacklight(new Host.Backlight());
}
