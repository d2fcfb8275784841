import { signal } from "@preact/signals";
import { t } from "../texts/index.js";
import { visibleLine } from "./visible.js";

/** Milliseconds for which a notice is shown. */
const SHOWN = 6_000;

const notice = signal<{ readonly text: string; readonly isError: boolean } | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;

export function show(text: string, isError = false): void {
	notice.value = { text, isError };
	clearTimeout(timer);
	timer = setTimeout(() => {
		notice.value = undefined;
	}, SHOWN);
}

/** Runs what a button does, and shows why it failed. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
	try {
		await action();
	} catch (error) {
		show(`${t("failed")}: ${visibleLine((error as Error).message)}`, true);
	}
}

/** Where {@link show} shows. */
export function Notice() {
	const { value } = notice;
	return (
		<div class="notice-place" role="status">
			{value && <div class={value.isError ? "notice bad" : "notice"}>{value.text}</div>}
		</div>
	);
}
