import type { TargetedEvent } from "preact";

/** The words in a field, which spaces or commas separate. */
export function wordsIn(form: FormData, name: string): readonly string[] {
	return String(form.get(name) ?? "")
		.split(/[\s,]+/)
		.filter((word) => word !== "");
}

/** The form of aliases and tags. */
export const ALIAS = "[a-z0-9]+([_\\-][a-z0-9]+)*";

/** Several of them. */
export const ALIASES = `[\\s,]*(${ALIAS}[\\s,]*)*`;

/** Attributes of a field that says what is wrong with it in the page's language. @param help the form that it must have */
export function explained(help: string) {
	return {
		title: help,
		onInvalid: ({ currentTarget: field }: TargetedEvent<HTMLInputElement>) => {
			field.setCustomValidity(field.validity.patternMismatch ? help : "");
		},
		onInput: ({ currentTarget: field }: TargetedEvent<HTMLInputElement>) => field.setCustomValidity(""),
	};
}
