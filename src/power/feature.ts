import type { Feature } from "../app/application.js";
import { PowerSaver } from "./power-saver.js";

/** Seconds until the screen of a board with a battery is dimmed, and turned off. */
const SCREEN_DIM = 60;
const SCREEN_OFF = 300;

/** Saves power as the settings `screenDim`, `screenOff`, `sleepAfter`, `wakeAfter`, `sleepBelow` and `wifiPowerSave` say. */
const power: Feature = {
	name: "power",
	after: ["parts"],
	start(app) {
		const { battery, power: chip, updater } = app.board;
		const onBattery = (seconds: number): number => (battery === undefined ? 0 : seconds);
		// At a wake-up the chip starts from the beginning: firmware on trial would be rolled back.
		const maySleep = updater?.isOnTrial !== true;
		const times = {
			screenDim: app.setting("screenDim") ?? onBattery(SCREEN_DIM),
			screenOff: app.setting("screenOff") ?? onBattery(SCREEN_OFF),
			sleepAfter: maySleep ? app.setting("sleepAfter") : 0,
			wakeAfter: app.setting("wakeAfter"),
			sleepBelow: maySleep ? app.setting("sleepBelow") : 0,
		};
		const mode = app.setting("wifiPowerSave");
		try {
			chip?.saveWiFi(mode);
		} catch (error) {
			app.log(`Wi-Fi power save "${mode}": ${String(error)}`);
		}
		app.listen(new PowerSaver(app, times));
	},
};

export default power;
