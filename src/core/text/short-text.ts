/** Characters of a text that are kept for the screen. */
export const MAX_TEXT_LENGTH = 512;

/** Truncates text for the screen, with "…": the screen keeps it, and a long one would fill the heap. */
export const shortText = (value: unknown): string => {
	if (typeof value !== "string") {
		return "";
	}
	return value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH - 1)}…` : value;
};
