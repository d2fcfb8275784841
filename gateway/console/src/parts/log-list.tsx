import type { ComponentChildren } from "preact";

/** A list that scrolls, also by the keyboard. */
export function LogList({ kind = "", children }: { readonly kind?: string; readonly children: ComponentChildren }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: else the keyboard could not scroll it.
		<ul class={`plain log ${kind}`} tabIndex={0}>
			{children}
		</ul>
	);
}
