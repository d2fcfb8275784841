/** Whether files of the state folder can be written, as of the last attempt. */
export class SaveState {
	readonly #onChange: (problem: Error | undefined) => void;
	#problem: Error | undefined;
	#failures = 0;

	/** @param onChange called when a write fails after one that did not, and the reverse */
	constructor(onChange: (problem: Error | undefined) => void = () => {}) {
		this.#onChange = onChange;
	}

	/** Why the last file could not be written; undefined if it was. */
	get problem(): Error | undefined {
		return this.#problem;
	}

	/** Files that could not be written. */
	get failures(): number {
		return this.#failures;
	}

	/** A file was written, or why it could not be. */
	attempted(problem?: Error): void {
		const hasChanged = (this.#problem === undefined) !== (problem === undefined);
		this.#problem = problem;
		this.#failures += problem === undefined ? 0 : 1;
		if (hasChanged) {
			this.#onChange(problem);
		}
	}

	/** Settles as a write does, whose end it notes. */
	async watch(write: Promise<void>): Promise<void> {
		try {
			await write;
			this.attempted();
		} catch (error) {
			this.attempted(error as Error);
			throw error;
		}
	}
}
