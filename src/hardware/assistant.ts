/** The assistant's answer. */
export interface Answer {
	/** Its sentences, a space between two; empty if it only showed an emotion. */
	readonly text: string;
	/** The last emotion that it showed: "happy", "neutral"; empty if it showed none. */
	readonly emotion: string;
}

/** The language model behind the backend. The firmware makes it if the build has the feature `conversation`. */
export interface Assistant {
	/**
	 * Sends a text to it, as if a person had spoken. Cancels a text that waits for its answer.
	 *
	 * @param text 1 to {@link MAX_SAID} characters
	 * @returns the whole answer, once the assistant has spoken it. Rejects with the reason if none came.
	 */
	say(text: string): Promise<Answer>;
	/**
	 * Sends a text to it without waiting for the answer, and then listens to the person. Interrupts it if it speaks.
	 *
	 * @throws Error if the device is busy, or the backend cannot be reached or has no assistant
	 */
	wake(text: string): void;
	/** Cancels the text that waits for its answer, and asks the backend to stop speaking. */
	interrupt(): void;
}

/** Maximum characters of a text for the assistant. */
export const MAX_SAID = 500;

/** Console for a conversation in writing: the prompt of a virtual device. */
export interface Chat {
	/** Called with each line that was typed. */
	onLine: ((text: string) => void) | undefined;
	/** Shows a line of the conversation. */
	show(line: string): void;
}
