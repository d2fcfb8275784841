import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { printable } from "./printable.js";

/** Bytes that are buffered while the log is not read. */
const MAX_WAITING = 1024 * 1024;

/**
 * Writes log lines and never waits: if the reader stalls, it keeps 1 MiB and drops the rest. Needs an output that does
 * not block, as Node's streams for pipes do not; a file or a terminal takes everything at once.
 */
export class LogDestination {
	readonly #output: Writable;
	readonly #format: (line: string) => string;
	#dropped = 0;

	/** Is told how many lines were dropped, as soon as the log is read again. */
	onDropped: (lines: number) => void = () => {};

	/** @param format changes a line before it is written: for people. Default: JSON, with escapes that a terminal may print */
	constructor(output: Writable, format: (line: string) => string = printable) {
		this.#output = output;
		this.#format = format;
		// If the log's reader ends, the gateway goes on.
		output.on("error", () => {});
		output.on("drain", () => this.#reportDropped());
	}

	write(line: string): void {
		if (this.#output.writableLength > MAX_WAITING) {
			this.#dropped += 1;
		} else {
			this.#output.write(this.#format(line));
		}
	}

	/** Waits until everything is read, but no longer than `timeout` ms. */
	async flush(timeout: number): Promise<void> {
		if (this.#output.writableLength > 0) {
			await Promise.race([once(this.#output, "drain"), delay(timeout)]);
		}
	}

	#reportDropped(): void {
		const dropped = this.#dropped;
		if (dropped > 0) {
			this.#dropped = 0;
			this.onDropped(dropped);
		}
	}
}
