/** A message that is not accepted: too long, or no text. */
export class MessageRefused extends Error {}

/**
 * Puts together messages that arrive in parts.
 *
 * A message over the limit is dropped as it comes, so that it never takes more memory than the limit.
 */
export class MessageAssembler {
	readonly #limit: number;
	#parts: ArrayBuffer[] = [];
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
		this.#bytes += part.byteLength;
		if (this.#bytes > this.#limit) {
			this.#parts = [];
		} else {
			this.#parts.push(part);
		}
		return more ? undefined : this.#finish();
	}

	#finish(): string {
		const bytes = this.#bytes;
		const parts = this.#parts;
		this.#bytes = 0;
		this.#parts = [];
		if (bytes > this.#limit) {
			throw new MessageRefused(`message of ${bytes} bytes refused: at most ${this.#limit} are taken`);
		}
		try {
			return String.fromArrayBuffer(join(parts, bytes));
		} catch {
			throw new MessageRefused(`message of ${bytes} bytes refused: not UTF-8`);
		}
	}
}

function join(parts: readonly ArrayBuffer[], bytes: number): ArrayBuffer {
	if (parts.length === 1) {
		return parts[0] as ArrayBuffer;
	}
	const whole = new Uint8Array(bytes);
	let at = 0;
	for (const part of parts) {
		whole.set(new Uint8Array(part), at);
		at += part.byteLength;
	}
	return whole.buffer;
}
