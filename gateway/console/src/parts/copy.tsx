import { useSignal } from "@preact/signals";
import { t } from "../texts/index.js";
import { Button } from "./button.js";

interface CopyProps {
	readonly text: string;
	/** Default: "Copy". */
	readonly label?: string;
}

/** Milliseconds for which the button says that it has copied. */
const SAID = 1_500;

/** A button that copies a text. */
export function Copy({ text, label }: CopyProps) {
	const said = useSignal<"copied" | "notCopied" | undefined>(undefined);
	const copy = async (): Promise<void> => {
		try {
			await navigator.clipboard.writeText(text);
			said.value = "copied";
		} catch {
			// Without TLS, browsers have no clipboard but on this machine.
			said.value = copyBySelection(text) ? "copied" : "notCopied";
		}
		setTimeout(() => {
			said.value = undefined;
		}, SAID);
	};
	return (
		<Button
			class="quiet"
			onClick={() => void copy()}
			text={said.value === undefined ? (label ?? t("copy")) : t(said.value)}
		/>
	);
}

function copyBySelection(text: string): boolean {
	const area = document.createElement("textarea");
	area.value = text;
	document.body.append(area);
	area.select();
	const copied = document.execCommand("copy");
	area.remove();
	return copied;
}

/** A text to be copied, as it is. */
export function Snippet({ text }: { readonly text: string }) {
	return (
		<div class="snippet">
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled with the keyboard */}
			<pre tabIndex={0}>{text}</pre>
			<Copy text={text} />
		</div>
	);
}
