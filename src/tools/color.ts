/**
 * A colour as a number, 0xRRGGBB.
 *
 * @throws Error if the text is not #rrggbb
 */
export const parseColor = (text: string): number => {
	if (!/^#[0-9a-f]{6}$/i.test(text)) {
		throw new Error(`color: expected #rrggbb, not ${JSON.stringify(text)}`);
	}
	return Number.parseInt(text.slice(1), 16);
};

/** A colour as text, #rrggbb. */
export const formatColor = (color: number): string => `#${color.toString(16).padStart(6, "0")}`;
