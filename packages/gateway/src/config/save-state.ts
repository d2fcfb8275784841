/** Kinds of saved data: entries of the store, lines of logs, events of a cluster. A full disk may have room for a line but not an entry. */
type Saved = "store" | "log" | "events";

/** Whether the gateway can save its state, as of the last attempts. */
export class SaveState {
	readonly #onChange: (problem: Error | undefined) => void;
	readonly #problems = new Map<Saved, Error>();
	failures = 0;

	/** @param onChange called when a write fails after one that did not, and the reverse */
	constructor(onChange: (problem: Error | undefined) => void = () => {}) {
		this.#onChange = onChange;
	}

	/** Why something could not be saved; undefined if the last attempt of each kind succeeded. */
	get problem(): Error | undefined {
		const [problem] = this.#problems.values();
		return problem;
	}

	/** Notes that something was saved, or why it could not be. */
	note(saved: Saved, problem?: Error): void {
		const before = this.problem;
		if (problem === undefined) {
			this.#problems.delete(saved);
		} else {
			this.#problems.set(saved, problem);
			this.failures += 1;
		}
		if ((before === undefined) !== (this.problem === undefined)) {
			this.#onChange(this.problem);
		}
	}
}
