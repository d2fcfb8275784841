import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../texts/index.js";
import { Button } from "./button.js";

interface Question {
	readonly paragraphs: readonly string[];
	/** Label of the confirming button. */
	readonly action: string;
	readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before something that cannot be undone, in a paragraph or several. */
export function confirm(text: string | readonly string[], action: string): Promise<boolean> {
	question.value?.answer(false);
	return new Promise((resolve) => {
		question.value = {
			paragraphs: [text].flat(),
			action,
			answer: (yes) => {
				question.value = undefined;
				resolve(yes);
			},
		};
	});
}

/** Where {@link confirm} asks. */
export function ConfirmDialog() {
	const dialog = useRef<HTMLDialogElement>(null);
	const { value } = question;
	useEffect(() => {
		if (value !== undefined) {
			dialog.current?.showModal();
		} else {
			dialog.current?.close();
		}
	}, [value]);
	return (
		<dialog ref={dialog} aria-label={t("confirm")} onClose={() => value?.answer(false)}>
			{value?.paragraphs.map((paragraph) => (
				<p key={paragraph}>{paragraph}</p>
			))}
			<div class="actions">
				<Button onClick={() => value?.answer(false)} text={t("cancel")} />
				<Button class="danger" onClick={() => value?.answer(true)} text={value?.action} />
			</div>
		</dialog>
	);
}
