import type { Settings } from "../hardware/hardware.js";

const DOMAIN = "update";
const KEY = "trial";

/** Stores which firmware is on trial from the next restart on: its version, or its URL if the version is unknown. */
export const rememberTrial = (settings: Settings | undefined, name: string): void => {
	settings?.set(DOMAIN, KEY, name);
};

/** The firmware put on trial last, unless already read. */
export const forgetTrial = (settings: Settings | undefined): string | undefined => {
	const name = settings?.get(DOMAIN, KEY);
	if (typeof name !== "string") {
		return undefined;
	}
	settings?.delete(DOMAIN, KEY);
	return name;
};
