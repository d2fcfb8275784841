import type { Board, Screen, Settings, Theme } from "../hardware/hardware.js";
import type { Preview } from "../hardware/pictures.js";
import type { Speaker } from "../hardware/sound.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { observedInstaller } from "../update/observed-installer.js";
import { PassingAlerts } from "./passing-alerts.js";

export interface ObserverOptions {
	readonly timer: TimerModule;
	readonly words: Words | undefined;
	/** For a board that installs firmware. */
	readonly observeInstaller: typeof observedInstaller | undefined;
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
export function withObservedParts(
	board: Board,
	{ timer, words, observeInstaller, onUpgrade, onUse, log }: ObserverOptions,
): Board {
	const { settings, speaker, screen: bare, preview, installer } = board;
	const alerts = bare && new PassingAlerts(bare, timer);
	const observed = bare && alerts && observedScreen(bare, { alerts, timer, settings, onUse });
	const screen = observed?.screen;
	return {
		...board,
		close() {
			observed?.close();
			alerts?.close();
			board.close();
		},
		...(speaker && { speaker: observedSpeaker(speaker, { settings, screen, onUse }) }),
		...(screen && { screen }),
		...(preview && { preview: observedPreview(preview, onUse) }),
		...(installer && observeInstaller && { installer: observeInstaller(installer, { screen, words, onUpgrade, log }) }),
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
	{ alerts, timer, settings, onUse }: Observers & { readonly alerts: PassingAlerts; readonly timer: TimerModule },
) {
	screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
	screen.theme = storedTheme(settings) ?? screen.theme;
	const { width, height, monochrome } = screen;
	let passing: TimerHandle | undefined;
	const show: Screen["show"] = (change, milliseconds) => {
		if (change.message !== undefined) {
			timer.clear(passing);
		}
		alerts.show(change);
		if (milliseconds !== undefined) {
			onUse();
			// An alert goes by itself.
			if (change.message !== undefined) {
				passing = timer.set(() => alerts.show({ message: "" }), milliseconds);
			}
		}
	};
	const observed = { width, height, monochrome, show } as Screen;
	Object.defineProperties(observed, {
		brightness: accessor(screen, "brightness", (percent) => {
			settings?.set("display", "brightness", percent);
			onUse();
		}),
		theme: accessor(screen, "theme", (theme) => {
			settings?.set("display", "theme", theme);
			onUse();
		}),
	});
	return { screen: observed, close: () => timer.clear(passing) };
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
