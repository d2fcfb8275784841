/** A serial line to another device, which sends and takes lines of text. */
export interface SerialLine {
	/** Its name for people. */
	readonly title?: string | undefined;
	/** The line that arrived last; undefined before. */
	readonly last: string | undefined;
	/** Why it cannot be used: its port could not be opened. Undefined if it can. */
	readonly error: string | undefined;
	/**
	 * Sends a line.
	 *
	 * @param text without its end
	 * @throws Error if it is too long, not one line, or comes too soon after the one before
	 */
	send(text: string): void;
	/** Called when a line has arrived; not for each one if they come fast. */
	onLine: ((text: string) => void) | undefined;
}

/** A board's serial lines by name. */
export type SerialLines = Readonly<Record<string, SerialLine>>;
