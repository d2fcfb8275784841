import type { ButtonHTMLAttributes } from "preact";

/** A button with a text. It submits no form, unless its type says so. */
export function Button({ text, ...props }: ButtonHTMLAttributes & { readonly text: string | undefined }) {
	return (
		<button type="button" {...props}>
			{text}
		</button>
	);
}
