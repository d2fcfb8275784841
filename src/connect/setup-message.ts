import { ENGLISH, type TextKey } from "./setup-text-en.js";

/** Something that a person is told: the page says it in its language, screen and log in English. */
export interface SetupMessage {
	readonly text: TextKey;
	/** What `{name}` in the text stands for. */
	readonly name?: string;
	/** The reason as the firmware has it, in English: an addition for those who understand it. */
	readonly detail?: string;
}

/** The English sentence, without the detail. */
export function inEnglish({ text, name = "" }: SetupMessage): string {
	return ENGLISH[text].replace("{name}", () => name);
}
