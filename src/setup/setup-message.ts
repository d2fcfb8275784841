import { deepFreeze } from "../text/deep-freeze.js";
import { ENGLISH, type SetupTexts, type TextKey } from "./setup-text-en.js";
import { JAPANESE } from "./setup-text-ja.js";
import { CHINESE } from "./setup-text-zh.js";

/** The texts of each language, by the setting `language`. */
export const SETUP_TEXTS: Readonly<Record<string, SetupTexts>> = deepFreeze({
	en: ENGLISH,
	ja: JAPANESE,
	zh: CHINESE,
});

/** A message for the user: on the page in its language, on the screen in that of the setting, in the log in English. */
export interface SetupMessage {
	readonly text: TextKey;
	/** Values for the placeholders `{name}` in the text. */
	readonly name?: string;
	/** The firmware's reason, in English, shown in addition. */
	readonly detail?: string;
}

/** The sentence in a language, without the detail. In English if the language is unknown. */
export const inLanguage = ({ text, name = "" }: SetupMessage, language = "en"): string =>
	(SETUP_TEXTS[language] ?? ENGLISH)[text].replace("{name}", () => name);
