import type { Press } from "../hardware/button.js";
import type { Application } from "./application.js";
import type { Listener } from "./listener.js";

/**
 * Reports a board's buttons, sensors, switches and serial lines to the backend. As on the C++ firmware, a press of the
 * first button starts or stops listening, and a long press starts the set-up. A long press of any button shows details.
 */
export class Inputs implements Listener {
	private readonly app: Application;

	constructor(app: Application) {
		this.app = app;
	}

	onStart(): void {
		const { app } = this;
		const { buttons = {}, sensors = {}, switches = {}, lines = {} } = app.board;
		for (const [name, button] of Object.entries(buttons)) {
			button.onPress = (press) => this.press(name, press);
		}
		for (const [name, sensor] of Object.entries(sensors)) {
			sensor.onChange = (value) => {
				const { kind, unit } = sensor;
				app.notify("notifications/sensor_changed", { sensor: name, kind, value, unit });
			};
		}
		for (const [name, each] of Object.entries(switches)) {
			each.onChange = (on, cause) => {
				app.log(`switch ${name}: ${on ? "on" : "off"} (${cause})`);
				app.notify("notifications/switch_changed", { switch: name, on, cause });
			};
		}
		for (const [name, line] of Object.entries(lines)) {
			line.onLine = (text) => app.notify("notifications/line_received", { line: name, text });
		}
	}

	private press(button: string, press: Press): void {
		const { app } = this;
		const { buttons = {}, wifiSetup } = app.board;
		const { long, milliseconds } = press;
		app.emit("onUserActivity");
		app.log(`button ${button}: ${long ? "long press" : "press"}`);
		app.notify("notifications/button_pressed", { button, long, milliseconds });
		if (app.emit("onPress", button, press)) {
			return;
		}
		const isMain = button === Object.keys(buttons)[0];
		if (long) {
			app.show({ details: true });
		}
		if (isMain && long) {
			wifiSetup?.begin();
		} else if (isMain) {
			app.talk.onMainButton();
		}
	}

	onClose(): void {
		const { buttons = {}, sensors = {}, switches = {}, lines = {} } = this.app.board;
		for (const button of Object.values(buttons)) {
			button.onPress = undefined;
		}
		for (const each of [...Object.values(sensors), ...Object.values(switches)]) {
			each.onChange = undefined;
		}
		for (const line of Object.values(lines)) {
			line.onLine = undefined;
		}
	}
}
