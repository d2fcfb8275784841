import type { Board, Screen, Settings, Theme } from "../hardware/hardware.js";
import type { Preview } from "../hardware/pictures.js";
import type { Speaker } from "../hardware/sound.js";
import type { TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import { observedInstaller } from "./observed-installer.js";
import { PassingAlerts } from "./passing-alerts.js";
import { PassingText } from "./passing-text.js";

interface ObserverOptions {
	readonly timer: TimerModule;
	readonly words: Words | undefined;
	/** Firmware is being installed, or could not be. */
	readonly onUpgrade: (state: "upgrading" | "idle") => void;
	/** Somebody sets what a person sees or hears, or shows a picture. */
	readonly onUse: () => void;
	readonly log: (message: string) => void;
}

/**
 * Wraps a board: volume, brightness and theme are restored now and stored when set; the screen shows the volume and
 * clears alerts; the installer reports its progress. A board without settings stores nothing; one without a screen
 * shows nothing.
 */
export function withObservedParts(board: Board, { timer, words, onUpgrade, onUse, log }: ObserverOptions): Board {
	const { settings, speaker, screen: bare, preview, installer } = board;
	const alerts = bare && new PassingAlerts(bare, timer);
	const texts = alerts && new PassingText(timer, (change) => alerts.show(change));
	const screen = bare && texts && observedScreen(bare, { texts, settings, onUse });
	return {
		...board,
		close() {
			texts?.close();
			alerts?.close();
			board.close();
		},
		...(speaker && { speaker: observedSpeaker(speaker, { settings, screen, onUse }) }),
		...(screen && { screen }),
		...(preview && { preview: observedPreview(preview, onUse) }),
		...(installer && { installer: observedInstaller(installer, { screen, words, onUpgrade, log }) }),
	};
}

/** A property that reads and writes a part's, and calls `onSet` after each write. */
function accessor<T, K extends keyof T>(part: T, key: K, onSet: (value: T[K]) => void): PropertyDescriptor {
	return {
		enumerable: true,
		get: () => part[key],
		set: (value: T[K]) => {
			part[key] = value;
			onSet(value);
		},
	};
}

interface Observers extends Pick<ObserverOptions, "onUse"> {
	readonly settings: Settings | undefined;
}

function observedSpeaker(
	speaker: Speaker,
	{ settings, screen, onUse }: Observers & { readonly screen: Screen | undefined },
): Speaker {
	speaker.volume = storedPercent(settings, "audio", "output_volume") ?? speaker.volume;
	const volume = accessor(speaker, "volume", (percent) => {
		settings?.set("audio", "output_volume", percent);
		screen?.show({ volume: percent });
		onUse();
	});
	return Object.defineProperties({} as Speaker, { volume });
}

function observedScreen(
	screen: Screen,
	{ texts, settings, onUse }: Observers & { readonly texts: PassingText },
): Screen {
	screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
	screen.theme = storedTheme(settings) ?? screen.theme;
	const { width, height, monochrome } = screen;
	const show: Screen["show"] = (change, milliseconds) => {
		if (milliseconds !== undefined) {
			onUse();
		}
		texts.show(change, milliseconds);
	};
	const observed = { width, height, monochrome, show } as Screen;
	return Object.defineProperties(observed, {
		brightness: accessor(screen, "brightness", (percent) => {
			settings?.set("display", "brightness", percent);
			onUse();
		}),
		theme: accessor(screen, "theme", (theme) => {
			settings?.set("display", "theme", theme);
			onUse();
		}),
	});
}

function observedPreview(preview: Preview, onUse: () => void): Preview {
	return {
		begin() {
			onUse();
			return preview.begin();
		},
	};
}

/** The stored value may be from another firmware, so it is checked. */
function storedPercent(settings: Settings | undefined, domain: string, key: string): number | undefined {
	const value = settings?.get(domain, key);
	return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 100 ? value : undefined;
}

function storedTheme(settings: Settings | undefined): Theme | undefined {
	const value = settings?.get("display", "theme");
	return value === "light" || value === "dark" ? value : undefined;
}
