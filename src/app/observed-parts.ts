import type { Guard } from "../hardware/guard.js";
import type { Board, Face, Screen, Settings, Theme } from "../hardware/hardware.js";
import type { Speaker } from "../hardware/sound.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { InstallerLink, observedInstaller } from "../update/observed-installer.js";
import { PassingAlerts } from "./passing-alerts.js";

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
	private readonly alerts: PassingAlerts;
	private readonly observers: Observers;
	/** Clears the message. */
	private passing: TimerHandle | undefined;

	constructor(screen: Screen, observers: Observers) {
		const { settings, timer, link } = observers;
		link.guard.run(() => {
			screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
		});
		screen.theme = storedTheme(settings) ?? screen.theme;
		this.width = screen.width;
		this.height = screen.height;
		this.monochrome = screen.monochrome;
		this.screen = screen;
		this.alerts = new PassingAlerts(screen, timer);
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
			timer.clear(this.passing);
		}
		this.alerts.show(change);
		if (milliseconds !== undefined) {
			link.used();
			// An alert goes by itself.
			if (change.message !== undefined) {
				this.passing = timer.set(() => this.alerts.show({ message: "" }), milliseconds);
			}
		}
	}

	close(): void {
		this.observers.timer.clear(this.passing);
		this.alerts.close();
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

const storedTheme = (settings: Settings | undefined): Theme | undefined => {
	const value = settings?.get("display", "theme");
	return value === "light" || value === "dark" ? value : undefined;
};
