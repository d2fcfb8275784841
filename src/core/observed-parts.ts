import {
	BLANK_FACE,
	type Face,
	type Screen,
	type Settings,
	type Theme,
	type TimerHandle,
} from "../hardware/hardware.js";
import type { Speaker } from "../hardware/sound.js";
import type { Application } from "./application.js";
import { AppPart } from "./listener.js";

/** Minimum time that an alert or details stay on the screen, and the time to read an ideograph, ms. */
const ALERT_TIME = 10_000;
const READING_TIME = 150;

/** Wraps parts of the board: keeps volume, brightness and theme, ends alerts, and reports pictures as user activity. */
export const observeParts = (app: Application): void => {
	const { speaker, screen, preview } = app.board;
	Object.assign(
		app.board,
		screen && { screen: new ObservedScreen(app) },
		speaker && { speaker: observeSpeaker(speaker, app) },
		preview && {
			preview: {
				begin() {
					app.emit("onUserActivity");
					return preview.begin();
				},
			},
		},
	);
};

/** Restores the volume, and stores and shows each change. */
const observeSpeaker = (speaker: Speaker, app: Application): Speaker => {
	app.guard.run(() => {
		speaker.volume = storedPercent(app.board.settings, "audio", "output_volume") ?? speaker.volume;
	});
	return {
		get volume(): number {
			return speaker.volume;
		},
		set volume(percent: number) {
			const { settings, screen } = app.board;
			speaker.volume = percent;
			settings?.set("audio", "output_volume", percent);
			screen?.show({ volume: percent });
			app.emit("onUserActivity");
		},
	};
};

class ObservedScreen extends AppPart implements Screen {
	private readonly screen = this.app.board.screen as Screen;
	readonly width = this.screen.width;
	readonly height = this.screen.height;
	readonly monochrome = this.screen.monochrome;
	readonly glyphs = this.screen.glyphs;
	/** The emotion to which the face returns after an alert. */
	private emotion = BLANK_FACE.emotion;
	/** Timers that clear the message, the alert and the details. */
	private message: TimerHandle | undefined;
	private alert: TimerHandle | undefined;
	private details: TimerHandle | undefined;

	constructor(app: Application) {
		super(app);
		const { screen } = this;
		const { settings } = app.board;
		app.guard.run(() => {
			screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
		});
		const theme = settings?.get("display", "theme");
		screen.theme = theme === "light" || theme === "dark" ? theme : screen.theme;
	}

	get light(): number | undefined {
		return this.screen.light;
	}

	set light(percent: number) {
		this.screen.light = percent;
	}

	get brightness(): number {
		return this.screen.brightness;
	}

	set brightness(percent: number) {
		this.screen.brightness = percent;
		this.store("brightness", percent);
	}

	get theme(): Theme {
		return this.screen.theme;
	}

	set theme(theme: Theme) {
		this.screen.theme = theme;
		this.store("theme", theme);
	}

	show(change: Partial<Face>, milliseconds?: number): void {
		const { timer } = this.app;
		if (change.message !== undefined) {
			timer.clear(this.message);
		}
		if (change.details === true) {
			timer.clear(this.details);
			this.details = timer.set(() => this.screen.show({ details: false }), ALERT_TIME);
		}
		if (change.alert !== undefined) {
			// The alert ends after this time, or when the device's state changes, and its emotion with it.
			const { status, message } = change.alert;
			const time = Math.max(ALERT_TIME, READING_TIME * (status.length + message.length));
			timer.clear(this.alert);
			this.alert = timer.set(() => this.endAlert(), time);
			this.screen.show(change);
		} else {
			this.emotion = change.emotion ?? this.emotion;
			const isOver = change.state !== undefined && this.alert !== undefined;
			isOver ? this.endAlert(change) : this.screen.show(change);
		}
		if (milliseconds !== undefined) {
			this.app.emit("onUserActivity");
			// An alert has its own timer.
			if (change.message !== undefined) {
				this.message = timer.set(() => this.screen.show({ message: "" }), milliseconds);
			}
		}
	}

	private endAlert(change?: Partial<Face>): void {
		this.app.timer.clear(this.alert);
		this.alert = undefined;
		this.screen.show({ emotion: this.emotion, alert: BLANK_FACE.alert, ...change });
	}

	private store(key: string, value: string | number): void {
		this.app.board.settings?.set("display", key, value);
		this.app.emit("onUserActivity");
	}
}

/** The stored value may be from another firmware, so it is checked. */
const storedPercent = (settings: Settings | undefined, domain: string, key: string): number | undefined => {
	const value = settings?.get(domain, key);
	return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 100 ? value : undefined;
};
