/** Whether files of the state folder can be written, as of the last attempt. */
export class SaveState {
	readonly #onChange: (problem: Error | undefined) => void;
	/** Of files that are replaced whole, and of logs. */
	#problem: Error | undefined;
	#logProblem: Error | undefined;
	/** Of what a cluster stores. */
	#sharedProblem: Error | undefined;
	#failures = 0;

	/** @param onChange called when a write fails after one that did not, and the reverse */
	constructor(onChange: (problem: Error | undefined) => void = () => {}) {
		this.#onChange = onChange;
	}

	/** Why the last file, or the last lines of a log, could not be written; undefined if both were. */
	get problem(): Error | undefined {
		return this.#problem ?? this.#logProblem ?? this.#sharedProblem;
	}

	/** Writes that failed. */
	get failures(): number {
		return this.#failures;
	}

	/** A file was written, or why it could not be. */
	attempted(problem?: Error): void {
		this.#note(problem, () => {
			this.#problem = problem;
		});
	}

	/** Lines were appended to a log, or why they could not be. On a full disk they may fit where no file does. */
	appended(problem?: Error): void {
		this.#note(problem, () => {
			this.#logProblem = problem;
		});
	}

	/** Something was stored in the cluster, or why it could not be. */
	shared(problem?: Error): void {
		this.#note(problem, () => {
			this.#sharedProblem = problem;
		});
	}

	/** Settles as a write does, whose end it notes. */
	async watch<T>(write: Promise<T>): Promise<T> {
		try {
			const result = await write;
			this.attempted();
			return result;
		} catch (error) {
			this.attempted(error as Error);
			throw error;
		}
	}

	#note(problem: Error | undefined, keep: () => void): void {
		const before = this.problem;
		keep();
		this.#failures += problem === undefined ? 0 : 1;
		if ((before === undefined) !== (this.problem === undefined)) {
			this.#onChange(this.problem);
		}
	}
}
