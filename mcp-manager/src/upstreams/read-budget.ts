/** Bytes that are read of one server in a second: reading them takes less than a tenth of a core. The rest waits with the server. */
const MAX_BYTES_PER_SECOND = 10 * 1024 * 1024;

/** Limits the read rate, so that a flooding server does not delay others. */
export class ReadBudget {
	#second = 0;
	#bytes = 0;

	/** Counts bytes that were read. Returns the milliseconds to wait before reading on; 0 if there is no need. */
	spend(bytes: number): number {
		const now = performance.now();
		const second = Math.floor(now / 1_000);
		this.#bytes = second === this.#second ? this.#bytes + bytes : bytes;
		this.#second = second;
		return this.#bytes < MAX_BYTES_PER_SECOND ? 0 : (second + 1) * 1_000 - now;
	}

	/** Counts bytes that a stream has delivered, and pauses it if it is necessary. */
	throttle(stream: { pause(): unknown; resume(): unknown }, bytes: number): void {
		const wait = this.spend(bytes);
		if (wait > 0) {
			stream.pause();
			setTimeout(() => stream.resume(), wait).unref();
		}
	}
}
