import type { Board, Screen, Settings, Speaker, Theme } from "../hardware/hardware.js";

/**
 * Gives a board whose volume, brightness and theme outlive a restart: they are restored now, and stored as they change.
 * A board without settings stays as it is.
 */
export function withPersistentParts(board: Board): Board {
	const { settings, speaker, screen } = board;
	if (settings === undefined) {
		return board;
	}
	return {
		...board,
		close: () => board.close(),
		...(speaker && { speaker: persistentSpeaker(speaker, settings) }),
		...(screen && { screen: persistentScreen(screen, settings) }),
	};
}

function persistentSpeaker(speaker: Speaker, settings: Settings): Speaker {
	speaker.volume = storedPercent(settings, "audio", "output_volume") ?? speaker.volume;
	return {
		get volume(): number {
			return speaker.volume;
		},
		set volume(volume: number) {
			speaker.volume = volume;
			settings.set("audio", "output_volume", volume);
		},
	};
}

function persistentScreen(screen: Screen, settings: Settings): Screen {
	screen.brightness = storedPercent(settings, "display", "brightness") ?? screen.brightness;
	screen.theme = storedTheme(settings) ?? screen.theme;
	return {
		width: screen.width,
		height: screen.height,
		monochrome: screen.monochrome,
		get brightness(): number {
			return screen.brightness;
		},
		set brightness(brightness: number) {
			screen.brightness = brightness;
			settings.set("display", "brightness", brightness);
		},
		get theme(): Theme {
			return screen.theme;
		},
		set theme(theme: Theme) {
			screen.theme = theme;
			settings.set("display", "theme", theme);
		},
		show: (change) => screen.show(change),
	};
}

/** What is stored may be from another firmware: it is used only if it makes sense. */
function storedPercent(settings: Settings, domain: string, key: string): number | undefined {
	const value = settings.get(domain, key);
	return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 100 ? value : undefined;
}

function storedTheme(settings: Settings): Theme | undefined {
	const value = settings.get("display", "theme");
	return value === "light" || value === "dark" ? value : undefined;
}
