import type { Guard } from "../hardware/guard.js";
import { BLANK_FACE, type Board, type Face, type Screen, type Settings, type Theme } from "../hardware/hardware.js";
import type { Speaker } from "../hardware/sound.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { InstallerLink, observedInstaller } from "../update/observed-installer.js";

/** Minimum time that an alert or details stay on the screen, ms; and the time to read a character, if it is an ideograph. */
const ALERT_TIME = 10_000;
const READING_TIME = 150;

export interface ObserverOptions {
	readonly timer: TimerModule;
	readonly words: Words | undefined;
	/** For a board that installs firmware. */
	readonly observeInstaller: typeof observedInstaller | undefined;
	readonly link: PartsLink;
}

/** The application, as its parts tell it how they are used. */
export interface PartsLink extends InstallerLink {
	/** Somebody sets what a person sees or hears, or shows a picture. */
	used(): void;
	readonly guard: Guard;
}

/**
 * Wraps a board: volume, brightness and theme are restored now and stored when set; the screen shows the volume and
 * clears alerts; the installer reports its progress. A board without settings stores nothing; one without a screen
 * shows nothing.
 */
export const withObservedParts = (board: Board, { timer, words, observeInstaller, link }: ObserverOptions): Board => {
	const { settings, speaker, screen: bare, preview, installer } = board;
	const observers = { timer, settings, link };
	const screen = bare && new ObservedScreen(bare, observers);
	return {
		...board,
		close() {
			screen?.close();
			board.close();
		},
		...(speaker && { speaker: new ObservedSpeaker(speaker, screen, observers) }),
		...(screen && { screen }),
		...(preview && {
			preview: {
				begin() {
					link.used();
					return preview.begin();
				},
			},
		}),
		...(installer && observeInstaller && { installer: observeInstaller(installer, { screen, words, link }) }),
	};
};

interface Observers {
	readonly timer: TimerModule;
	readonly settings: Settings | undefined;
	readonly link: PartsLink;
}

class ObservedSpeaker implements Speaker {
	private readonly speaker: Speaker;
	private readonly screen: Screen | undefined;
	private readonly observers: Observers;

	constructor(speaker: Speaker, screen: Screen | undefined, observers: Observers) {
		this.speaker = speaker;
		this.screen = screen;
		this.observers = observers;
		observers.link.guard.run(() => {
			speaker.volume = storedPercent(observers.settings, "audio", "output_volume") ?? speaker.volume;
		});
	}

	get volume(): number {
		return this.speaker.volume;
	}

	set volume(percent: number) {
		this.speaker.volume = percent;
		this.observers.settings?.set("audio", "output_volume", percent);
		this.screen?.show({ volume: percent });
		this.observers.link.used();
	}
}

class ObservedScreen implements Screen {
	readonly width: number;
	readonly height: number;
	readonly monochrome: boolean;
	private readonly screen: Screen;
	private readonly observers: Observers;
	/** The emotion without the alert, and what the face returns to when the alert goes. */
	private emotion = BLANK_FACE.emotion;
	private before: Partial<Face> = {};
	/** Timers that clear the message, the alert and the details. */
	private message: TimerHandle | undefined;
	private alert: TimerHandle | undefined;
	private details: TimerHandle | undefined;

	constructor(screen: Screen, observers: Observers) {
		const { settings, link } = observers;
		link.guard.run(() => {
			screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
		});
		const theme = settings?.get("display", "theme");
		screen.theme = theme === "light" || theme === "dark" ? theme : screen.theme;
		this.width = screen.width;
		this.height = screen.height;
		this.monochrome = screen.monochrome;
		this.screen = screen;
		this.observers = observers;
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
		const { timer, link } = this.observers;
		if (change.message !== undefined) {
			timer.clear(this.message);
		}
		if (change.details === true) {
			timer.clear(this.details);
			this.details = timer.set(() => this.screen.show({ details: false }), ALERT_TIME);
		}
		if (change.alert !== undefined) {
			this.showAlert(change, change.alert);
		} else {
			this.showWithoutAlert(change);
		}
		if (milliseconds !== undefined) {
			link.used();
			// An alert goes by itself.
			if (change.message !== undefined) {
				this.message = timer.set(() => this.screen.show({ message: "" }), milliseconds);
			}
		}
	}

	close(): void {
		for (const handle of [this.message, this.alert, this.details]) {
			this.observers.timer.clear(handle);
		}
	}

	/** Clears the alert after a time, or as soon as the device's state changes. The emotion that came with it goes, too. */
	private showAlert(change: Partial<Face>, { status, message }: Face["alert"]): void {
		const { timer } = this.observers;
		timer.clear(this.alert);
		const time = Math.max(ALERT_TIME, READING_TIME * (status.length + message.length));
		this.alert = timer.set(() => {
			this.alert = undefined;
			this.screen.show(this.withoutAlert());
		}, time);
		if (change.emotion !== undefined) {
			this.before = { emotion: this.emotion };
		}
		this.screen.show(change);
	}

	private showWithoutAlert(change: Partial<Face>): void {
		if (change.emotion !== undefined) {
			this.emotion = change.emotion;
			this.before = {};
		}
		if (change.state !== undefined && this.alert !== undefined) {
			this.observers.timer.clear(this.alert);
			this.alert = undefined;
			this.screen.show({ ...this.withoutAlert(), ...change });
		} else {
			this.screen.show(change);
		}
	}

	private withoutAlert(): Partial<Face> {
		const before = this.before;
		this.before = {};
		return { ...before, alert: BLANK_FACE.alert };
	}

	private store(key: string, value: string | number): void {
		this.observers.settings?.set("display", key, value);
		this.observers.link.used();
	}
}

/** The stored value may be from another firmware, so it is checked. */
const storedPercent = (settings: Settings | undefined, domain: string, key: string): number | undefined => {
	const value = settings?.get(domain, key);
	return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 100 ? value : undefined;
};
