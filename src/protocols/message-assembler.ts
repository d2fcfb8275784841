/** A message that is not accepted: too long, or no text. */
export class MessageRefused extends Error {}

const SMALLEST_CAPACITY = 1_024;

/**
 * Puts together messages that arrive in parts.
 *
 * The parts are copied into one buffer that grows, for a peer may send as small parts as it likes. A message over the
 * limit is dropped as it comes.
 */
export class MessageAssembler {
	readonly #limit: number;
	#buffer: Uint8Array | undefined;
	/** Bytes of the present message so far, dropped ones included. */
	#bytes = 0;

	/** @param limit bytes that a message may have */
	constructor(limit: number) {
		this.#limit = limit;
	}

	/**
	 * Takes the next part of a message.
	 *
	 * @param more whether further parts of the same message follow
	 * @returns the message as text when it is whole
	 * @throws MessageRefused after the last part of a message that is too long or is not UTF-8
	 */
	append(part: ArrayBuffer, more: boolean): string | undefined {
		const start = this.#bytes;
		this.#bytes += part.byteLength;
		if (!more && start === 0) {
			return this.#finish(part);
		}
		if (this.#bytes > this.#limit) {
			this.#buffer = undefined;
		} else {
			this.#reserve(this.#bytes, start).set(new Uint8Array(part), start);
		}
		return more ? undefined : this.#finish(this.#buffer?.slice(0, this.#bytes).buffer);
	}

	/** A buffer of at least that capacity, which holds what is there already. */
	#reserve(capacity: number, held: number): Uint8Array {
		const present = this.#buffer;
		if (present !== undefined && present.byteLength >= capacity) {
			return present;
		}
		const doubled = Math.max(SMALLEST_CAPACITY, (present?.byteLength ?? 0) * 2, capacity);
		const buffer = new Uint8Array(Math.min(doubled, this.#limit));
		if (present !== undefined) {
			buffer.set(present.subarray(0, held));
		}
		this.#buffer = buffer;
		return buffer;
	}

	#finish(message: ArrayBuffer | undefined): string {
		const bytes = this.#bytes;
		this.#bytes = 0;
		this.#buffer = undefined;
		if (message === undefined || bytes > this.#limit) {
			throw new MessageRefused(`message of ${bytes} bytes refused: at most ${this.#limit} are taken`);
		}
		if (new Uint8Array(message).includes(0)) {
			// XS would take what stands before it for the whole.
			throw new MessageRefused(`message of ${bytes} bytes refused: a NUL byte in it`);
		}
		try {
			return String.fromArrayBuffer(message);
		} catch {
			throw new MessageRefused(`message of ${bytes} bytes refused: not UTF-8`);
		}
	}
}
