/** A part of a message, as much as the transport takes at once. */
export interface MessagePart {
	readonly bytes: Uint8Array;
	/** Bytes of the whole message. */
	readonly messageBytes: number;
	readonly first: boolean;
	readonly last: boolean;
}

/** Below this a part of a longer message is not worth its frame. */
const SMALLEST_PART = 64;

/**
 * Messages that wait for room in a transport that tells, as ECMA-419's do, how many bytes may be written.
 *
 * What is written never exceeds that number; what waits never exceeds the limit.
 */
export class WriteQueue {
	readonly #limit: number;
	readonly #overhead: number;
	readonly #write: (part: MessagePart) => number;
	readonly #messages: ArrayBuffer[] = [];
	/** How much of the first message is written. */
	#written = 0;
	#writable = 0;
	#bytes = 0;

	/**
	 * @param limit bytes that may wait
	 * @param overhead bytes that the transport adds to the first part of a message
	 * @param write writes a part and returns how many bytes may be written next
	 */
	constructor(limit: number, overhead: number, write: (part: MessagePart) => number) {
		this.#limit = limit;
		this.#overhead = overhead;
		this.#write = write;
	}

	/** Bytes that wait. */
	get bytes(): number {
		return this.#bytes;
	}

	/** @returns false when more would wait than may: the message is not taken */
	push(message: ArrayBuffer): boolean {
		if (this.#bytes + message.byteLength > this.#limit) {
			return false;
		}
		this.#messages.push(message);
		this.#bytes += message.byteLength;
		this.#drain();
		return true;
	}

	/** Tells that this many bytes may be written now. */
	onWritable(count: number): void {
		this.#writable = count;
		this.#drain();
	}

	#drain(): void {
		let message = this.#messages[0];
		while (message !== undefined) {
			const left = message.byteLength - this.#written;
			const room = this.#writable - (this.#written === 0 ? this.#overhead : 0);
			const size = Math.min(left, room);
			if (size < 0 || (size < left && size < SMALLEST_PART)) {
				return;
			}
			this.#writePart(message, size);
			message = this.#messages[0];
		}
	}

	#writePart(message: ArrayBuffer, size: number): void {
		const start = this.#written;
		const last = start + size === message.byteLength;
		if (last) {
			this.#messages.shift();
		}
		this.#written = last ? 0 : start + size;
		this.#bytes -= size;
		this.#writable = this.#write({
			bytes: new Uint8Array(message, start, size),
			messageBytes: message.byteLength,
			first: start === 0,
			last,
		});
	}
}
