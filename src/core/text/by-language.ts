import { deepFreeze } from "./deep-freeze.js";

/**
 * Makes a table of texts for each value of the setting `language`.
 *
 * @param texts by their keys: in English, Japanese and simplified Chinese
 */
export const byLanguage = <Key extends string>(
	texts: Readonly<Record<Key, readonly [en: string, ja: string, zh: string]>>,
) => {
	const entries = Object.entries<readonly [string, string, string]>(texts);
	const pick = (at: 0 | 1 | 2) =>
		Object.fromEntries(entries.map(([key, each]) => [key, each[at]])) as Readonly<Record<Key, string>>;
	return deepFreeze({ en: pick(0), ja: pick(1), zh: pick(2) });
};
