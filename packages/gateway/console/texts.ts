import { computed, effect, signal } from "@preact/signals";
import en from "./en.json";
import { visibleLine } from "./views/visible.js";

/** Texts of devices are shown by these. */
export { visible, visibleLine } from "./views/visible.js";

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
	document.documentElement.style.colorScheme = theme.value === "auto" ? "" : theme.value;
	try {
		localStorage.setItem(KEY, JSON.stringify({ theme: theme.value, language: chosenLanguage.value }));
	} catch {
		// See read.
	}
});

/** Every language by the beginning of its tag, with its own name. */
export const LANGUAGES = { en: "English", ja: "日本語", zh: "中文" } as const;

type Language = keyof typeof LANGUAGES;

/** Loads translations. A key that one lacks is a type error. */
const TRANSLATIONS: Readonly<Record<Exclude<Language, "en">, () => Promise<{ readonly default: typeof en }>>> = {
	ja: () => import("./ja.json"),
	zh: () => import("./zh.json"),
};

/** Texts of the page by language. Translations are loaded when they are chosen. */
const texts = signal<Readonly<Partial<Record<Language, typeof en>>>>({ en });

/** The chosen language, or the first of the browser's that there is. */
export const language = computed(() => {
	const wanted = [chosenLanguage.value ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
	return wanted.find((tag): tag is Language => Object.hasOwn(LANGUAGES, tag)) ?? "en";
});

/** Locale of dates: the browser's own, if it has the language of the page. */
export const locale = computed(
	() => navigator.languages.find((tag) => tag.startsWith(language.value)) ?? language.value,
);

effect(() => {
	document.documentElement.lang = language.value;
	void loadTexts(language.value);
});

/** Loads the texts of a language. If they cannot be loaded, the page is in English. */
export async function loadTexts(tag: Language): Promise<void> {
	if (tag !== "en" && texts.peek()[tag] === undefined) {
		const loaded = await TRANSLATIONS[tag]().catch(() => undefined);
		texts.value = { ...texts.value, ...(loaded && { [tag]: loaded.default }) };
	}
}

/** A text in the current language. `{name}` in it stands for a value. */
export function t(key: keyof typeof en, values: Readonly<Record<string, string | number>> = {}): string {
	return (texts.value[language.value] ?? en)[key].replace(/\{([a-z]+)\}/g, (whole, name: string) =>
		String(values[name] ?? whole),
	);
}

/** The text for a computed key, or undefined if the key is unknown. */
export function textOf(key: string): string | undefined {
	return Object.hasOwn(en, key) ? t(key as keyof typeof en) : undefined;
}

/** A state of a device. Other firmware may have states without a text. */
export function stateText(state: string): string {
	return state === "online" || state === "offline" ? t(state) : (textOf(`state_${state}`) ?? visibleLine(state));
}

/** The largest units of time first, and the seconds of each. */
const UNITS = [
	["day", 86_400],
	["hour", 3_600],
	["minute", 60],
	["second", 1],
] as const;

/** Milliseconds in the largest unit that fits. */
function inUnit(milliseconds: number): { readonly count: number; readonly unit: (typeof UNITS)[number][0] } {
	const seconds = Math.max(0, Math.round(milliseconds / 1_000));
	const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ["second", 1];
	return { count: Math.floor(seconds / size), unit };
}

/** Milliseconds since 1970, for texts that say how long ago something was. */
export const now = signal(Date.now());

setInterval(() => {
	if (document.visibilityState === "visible") {
		now.value = Date.now();
	}
}, 5_000);

/** "3 min ago" in the current language. */
export function ago(time: number): string {
	const { count, unit } = inUnit(now.value - time);
	const format = new Intl.RelativeTimeFormat(language.value, { numeric: "auto", style: "short" });
	return unit === "second" && count < 5 ? t("justNow") : format.format(-count, unit);
}

/** "3 min" in the current language. */
export function duration(milliseconds: number): string {
	const { count, unit } = inUnit(milliseconds);
	return new Intl.NumberFormat(language.value, { style: "unit", unit, unitDisplay: "short" }).format(count);
}

/** Day and time, to the second. */
export function dateAndTime(time: number): string {
	return new Date(time).toLocaleString(locale.value, { dateStyle: "short", timeStyle: "medium", hour12: false });
}

/** The time of day, to the second. */
export function clock(time: number): string {
	return new Date(time).toLocaleTimeString(language.value, { hour12: false });
}
