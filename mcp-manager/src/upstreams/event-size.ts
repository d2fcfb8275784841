const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Measures the event that arrives in a stream of server-sent events: up to the next empty line, with any line ends. */
export class EventSize {
	#event = 0;
	#line = 0;
	#last = 0;

	/** Reads a piece of the stream. Returns the bytes of its longest event, as far as it has arrived. */
	after(piece: Uint8Array): number {
		let longest = this.#event;
		for (const byte of piece) {
			this.#event += 1;
			if (byte === CARRIAGE_RETURN || (byte === LINE_FEED && this.#last !== CARRIAGE_RETURN)) {
				longest = Math.max(longest, this.#event);
				this.#event = this.#line === 0 ? 0 : this.#event;
				this.#line = 0;
			} else if (byte !== LINE_FEED) {
				this.#line += 1;
			}
			this.#last = byte;
		}
		return Math.max(longest, this.#event);
	}
}
