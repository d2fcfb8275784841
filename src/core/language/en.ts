import { deepFreeze } from "../text/deep-freeze.js";

/** The device's words in English, for its screen and the backend's model. `{name}` is a placeholder. */
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
