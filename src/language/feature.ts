import { deepFreeze } from "../text/deep-freeze.js";
import { ENGLISH, type Words } from "./en.js";
import { JAPANESE } from "./ja.js";
import { CHINESE } from "./zh.js";

/** The words of each language that the setting `language` may name. */
export const LANGUAGES: Readonly<Record<"en" | "ja" | "zh", Words>> = deepFreeze({
	en: ENGLISH,
	ja: JAPANESE,
	zh: CHINESE,
});

export default LANGUAGES;
