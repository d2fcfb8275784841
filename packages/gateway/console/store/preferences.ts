import { effect, signal } from "@preact/signals";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "xs-mcp-console";

interface Stored {
	readonly theme?: Theme;
	readonly language?: string;
}

/** A browser may forbid storage: then the choice lasts as long as the page. */
function read(): Stored {
	try {
		return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Stored;
	} catch {
		return {};
	}
}

const stored = read();

export const theme = signal<Theme>(THEMES.find((each) => each === stored.theme) ?? "auto");

/** A language that was chosen; undefined: the browser's. */
export const chosenLanguage = signal<string | undefined>(stored.language);

effect(() => {
	document.documentElement.dataset.theme = theme.value;
	try {
		localStorage.setItem(KEY, JSON.stringify({ theme: theme.value, language: chosenLanguage.value }));
	} catch {
		// See read.
	}
});
