import { computed, effect } from "@preact/signals";
import { chosenLanguage } from "../store/preferences.js";
import { en, type TextKey, type Texts } from "./en.js";
import { ja } from "./ja.js";
import { zh } from "./zh.js";

export type { TextKey } from "./en.js";

/** Every language, by the beginning of its tag, and its own name. */
export const LANGUAGES: Readonly<Record<string, { readonly name: string; readonly texts: Texts }>> = {
	en: { name: "English", texts: en },
	ja: { name: "日本語", texts: ja },
	zh: { name: "中文", texts: zh },
};

/** The chosen language, or the first of the browser's that there is. */
export const language = computed(() => {
	const wanted = [chosenLanguage.value ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
	return wanted.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
});

effect(() => {
	document.documentElement.lang = language.value;
});

/** A text in the current language. `{name}` in it stands for a value. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
	const text = LANGUAGES[language.value]?.texts[key] ?? en[key];
	return text.replace(/\{([a-z]+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** "3 min ago" in the current language. */
export function ago(time: number, now: number): string {
	const seconds = Math.max(0, Math.round((now - time) / 1_000));
	const format = new Intl.RelativeTimeFormat(language.value, { numeric: "auto", style: "short" });
	if (seconds < 60) {
		return seconds < 5 ? t("justNow") : format.format(-seconds, "second");
	}
	if (seconds < 3_600) {
		return format.format(-Math.floor(seconds / 60), "minute");
	}
	return seconds < 86_400
		? format.format(-Math.floor(seconds / 3_600), "hour")
		: format.format(-Math.floor(seconds / 86_400), "day");
}

/** The time of day, to the second. */
export function clock(time: number): string {
	return new Date(time).toLocaleTimeString(language.value, { hour12: false });
}
