import { RateLimit } from "../core/limits.js";

/** Most lines forwarded per second and per piece. Others are dropped. */
const MAX_LINES = 20;

/** Characters of a line. */
const MAX_LINE = 1_000;

/** Reads what a process writes to standard error: passes lines on, within limits, and keeps the last one. */
export class StderrLines {
	readonly #onLine: (line: string) => void;
	readonly #rate = new RateLimit(MAX_LINES);
	/** Text after the last line feed. */
	#rest = "";
	#last = "";
	/** Whether lines were dropped since the last one that was passed on. */
	#isDropping = false;

	constructor(onLine: (line: string) => void) {
		this.#onLine = onLine;
	}

	/** The last line that is not empty; of a long one its end. */
	get last(): string {
		return this.#last;
	}

	receive(chunk: Buffer): void {
		const text = this.#rest + chunk.toString();
		const end = text.lastIndexOf("\n") + 1;
		this.#rest = text.slice(end).slice(-MAX_LINE);
		this.#last = text.slice(-MAX_LINE).trim().split("\n").at(-1)?.trim() || this.#last;
		// Not all of them: a piece may have thousands.
		this.#emitLines(text.slice(0, end).split("\n", MAX_LINES + 1));
	}

	/** The process has ended: its last line may have no line feed. */
	end(): void {
		this.#emitLines([this.#rest]);
		this.#rest = "";
	}

	#emitLines(lines: readonly string[]): void {
		for (const line of lines.map((each) => each.trim()).filter((each) => each !== "")) {
			if (this.#rate.take()) {
				this.#isDropping = false;
				this.#onLine(line.slice(0, MAX_LINE));
			} else if (!this.#isDropping) {
				this.#isDropping = true;
				this.#onLine(`(more than ${MAX_LINES} lines in a second: the others are dropped)`);
			}
		}
	}
}
