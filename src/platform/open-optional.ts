/**
 * Opens a part that the board can do without: if it does not answer, the board has one part less.
 *
 * @param name for the trace
 */
export function openOptional<Part>(name: string, open: () => Part): Part | undefined {
	try {
		return open();
	} catch (error) {
		trace(`${name} not opened: ${String(error)}\n`);
		return undefined;
	}
}
