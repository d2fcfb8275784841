/** Characters of a text that are kept for the screen. */
export const MAX_TEXT_LENGTH = 512;

/** Text for the screen. It is cut, and ends with "…", because the screen keeps it: a long one would fill the heap. */
export const shortText = (value: unknown): string => {
	if (typeof value !== "string") {
		return "";
	}
	return value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH - 1)}…` : value;
};
