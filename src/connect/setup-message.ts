import { ENGLISH, type TextKey } from "./setup-text-en.js";

/** A message for the user: on the page in its language, on screen and in the log in English. */
export interface SetupMessage {
	readonly text: TextKey;
	/** Values for the placeholders `{name}` in the text. */
	readonly name?: string;
	/** The firmware's reason, in English, shown in addition. */
	readonly detail?: string;
}

/** The English sentence, without the detail. */
export function inEnglish({ text, name = "" }: SetupMessage): string {
	return ENGLISH[text].replace("{name}", () => name);
}
