import type { Settings } from "../hardware/hardware.js";

const DOMAIN = "update";
const KEY = "trial";

/** Keeps which firmware is on trial from the next restart on: its version, or its URL if that is not known. */
export function rememberTrial(settings: Settings | undefined, name: string): void {
	settings?.set(DOMAIN, KEY, name);
}

/** The firmware that was put on trial last, and that nobody has looked for since. */
export function forgetTrial(settings: Settings | undefined): string | undefined {
	const name = settings?.get(DOMAIN, KEY);
	if (typeof name !== "string") {
		return undefined;
	}
	settings?.delete(DOMAIN, KEY);
	return name;
}
