import { deepFreeze } from "../text/deep-freeze.js";
import { SETTINGS } from "./settings-table.js";

/** Names in `config` that the SDK's own modules read, and those of the virtual device. */
const FOREIGN: readonly string[] = deepFreeze([
	"backlight",
	"brightness",
	"button_pin",
	"camera",
	"driverRotation",
	"enablePowerButton",
	"file",
	"format",
	"httpAddress",
	"lcd_pin",
	"led",
	"led_pin",
	"mdnsInterface",
	"rotation",
	"screen",
	"sntp",
	"startupSound",
	"startupVibration",
	"tls",
	"touch",
	"udpAudio",
	"virtualButton",
]);

/** Names in the manifest's `config` that no setting has: misspelled, or a project's own. */
export const unknownSettings = (built: Readonly<Record<string, unknown>>): readonly string[] =>
	Object.keys(built).filter((name) => !Object.hasOwn(SETTINGS, name) && !FOREIGN.includes(name));
