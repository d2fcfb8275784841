/** A question to the person at the device. */
export interface Question {
	readonly text: string;
	/** At least one. */
	readonly choices: readonly string[];
	/** Milliseconds that the person has. */
	readonly time: number;
	/**
	 * Called every few seconds while nobody has answered.
	 *
	 * @param waited milliseconds since the question
	 * @param marked the choice that is marked
	 */
	readonly onWait?: (waited: number, marked: string) => void;
}

/** Asks by the screen and the buttons. The firmware makes it if the board has both, and the build the feature `conversation`. */
export interface Questions {
	/** @returns the person's choice; undefined without one. Rejects if another question is on the screen. */
	ask(question: Question): Promise<string | undefined>;
	/** Gives up the question that is on the screen. */
	cancel(): void;
}
