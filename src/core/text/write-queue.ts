import type { PiecedText, Sendable } from "./json.js";

/** Bytes below which a part of a longer message is not worth its frame. */
const MIN_PART = 64;

/** Approximate bytes of a piece. */
const PIECE_COST = 1_024;

/**
 * Queue of messages on a transport that reports, as ECMA-419's do, how many bytes may be written.
 *
 * Writes never exceed that number; queued bytes never exceed the limit. Of a message in pieces only the piece
 * that is being written is held as bytes.
 */
export abstract class WriteQueue {
	/** Maximum queued bytes. */
	protected readonly maxQueuedBytes: number;
	/** Bytes that the transport adds to the first part of a message. */
	private readonly overhead: number;
	private readonly minPart: number;
	/** The message that is being written. Not in the array, because most messages need not wait. */
	private sending: ArrayBuffer | PiecedText | undefined;
	private readonly waiting: (ArrayBuffer | PiecedText)[] = [];
	/** Bytes of the message that were written. */
	private sentBytes = 0;
	/** The piece of the message that is being written; the whole message unless it is in pieces. */
	private piece: ArrayBuffer | undefined;
	private pieceBytes = 0;
	private writableBytes = 0;
	/** Bytes of messages that are not completely written, by {@link costOf}. */
	protected queuedBytes = 0;

	constructor(maxQueuedBytes: number, overhead: number, minPart = MIN_PART) {
		this.maxQueuedBytes = maxQueuedBytes;
		this.overhead = overhead;
		this.minPart = minPart;
	}

	/**
	 * Writes a part of a message, as much as the transport takes at once, and returns how many bytes may be written next.
	 *
	 * @param messageBytes bytes of the whole message
	 * @param first whether this is the first part of the message
	 * @param last whether it ends with it
	 */
	protected abstract write(bytes: Uint8Array, messageBytes: number, first: boolean, last: boolean): number;

	/** Bytes that may be written past the queue: none while a message waits. The caller reports the rest by `setRoom`. */
	protected get room(): number {
		return this.sending === undefined ? this.writableBytes : 0;
	}

	/** Writes a message, or queues it. @returns false if the queue would exceed its limit: the message is dropped */
	protected push(text: Sendable | ArrayBuffer): boolean {
		const message = typeof text === "string" ? ArrayBuffer.fromString(text) : text;
		// Most messages are written as a whole, at once.
		if (this.sending === undefined && message instanceof ArrayBuffer) {
			const size = message.byteLength;
			if (size <= this.maxQueuedBytes && size + this.overhead <= this.writableBytes) {
				this.writableBytes = 0;
				this.writableBytes = this.write(new Uint8Array(message), size, true, true);
				// Meanwhile other messages may have been queued.
				if (this.sending !== undefined) {
					this.drain();
				}
				return true;
			}
		}
		const bytes = this.queuedBytes + costOf(message);
		if (bytes > this.maxQueuedBytes) {
			return false;
		}
		this.queuedBytes = bytes;
		if (this.sending === undefined) {
			this.sending = message;
			this.drain();
		} else {
			this.waiting.push(message);
		}
		return true;
	}

	/** Called when the transport accepts this many bytes: writes queued messages. */
	protected setRoom(count: number): void {
		this.writableBytes = count;
		this.drain();
	}

	private drain(): void {
		let message = this.sending;
		while (message !== undefined) {
			const piece = this.present(message);
			const left = piece.byteLength - this.pieceBytes;
			const room = this.writableBytes - (this.sentBytes === 0 ? this.overhead : 0);
			const size = left < room ? left : room;
			if (size < 0 || (size < left && size < this.minPart)) {
				return;
			}
			this.writePart(message, piece, size);
			message = this.sending;
		}
	}

	/** Returns the piece of a message to write next. */
	private present(message: ArrayBuffer | PiecedText): ArrayBuffer {
		let piece = this.piece;
		if (piece === undefined || this.pieceBytes === piece.byteLength) {
			piece = message instanceof ArrayBuffer ? message : message.take();
			this.piece = piece;
			this.pieceBytes = 0;
		}
		return piece;
	}

	private writePart(message: ArrayBuffer | PiecedText, piece: ArrayBuffer, size: number): void {
		const part = new Uint8Array(piece, this.pieceBytes, size);
		const messageBytes = message instanceof ArrayBuffer ? message.byteLength : message.bytes;
		const isFirst = this.sentBytes === 0;
		this.sentBytes += size;
		this.pieceBytes += size;
		const isLast = this.sentBytes === messageBytes;
		if (isLast) {
			this.queuedBytes -= costOf(message);
			this.sending = this.waiting.shift();
			this.sentBytes = 0;
			this.piece = undefined;
		}
		this.writableBytes = this.write(part, messageBytes, isFirst, isLast);
	}
}

/** Returns a message's share of the limit: only one piece of a message in pieces is in memory. */
const costOf = (message: ArrayBuffer | PiecedText): number =>
	message instanceof ArrayBuffer ? message.byteLength : PIECE_COST;
