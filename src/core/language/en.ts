import { deepFreeze } from "../text/deep-freeze.js";

/**
 * The words of the device itself, on its screen and to the backend's model, in English. `{name}` is a placeholder. The
 * other languages have the same keys. The set-up page has its own: src/features/setup/setup-texts.ts.
 */
export const ENGLISH = deepFreeze({
	offline: "Offline",
	setup: "Set-up",
	connecting: "Connecting",
	listening: "Listening",
	updating: "Updating",
	error: "Error",
	noBackend: "No backend",
	updateFailed: "Update failed",
	safeMode: "Safe mode",
	modSkipped: "Mod skipped",
	invalidSetting: "Invalid setting",
	timer: "Timer",
	joinWifi: "1. Join the Wi-Fi",
	openPage: "2. Open",
	howToChoose: "Press: next. Hold: this one.",
	pressed: 'The button "{button}" was pressed.',
	held: 'The button "{button}" was held down.',
	measured: 'The sensor "{sensor}" ({kind}) now measures {value}.',
	due: 'The timer "{timer}" is due.',
});

/** The words of one language. */
export type Words = Readonly<Record<keyof typeof ENGLISH, string>>;
