import type { PiecedText, Sendable } from "./pieced-text.js";

/** The destination of a queue. */
export interface PartWriter {
	/**
	 * Writes a part of a message, as much as the transport takes at once, and returns how many bytes may be written next.
	 *
	 * @param messageBytes bytes of the whole message
	 * @param first whether this is the first part of the message
	 * @param last whether it ends with it
	 */
	write(bytes: Uint8Array, messageBytes: number, first: boolean, last: boolean): number;
}

/** Below this a part of a longer message is not worth its frame. */
const MIN_PART = 64;

/** Bytes of a piece, roughly. */
const PIECE_COST = 1_024;

/**
 * Queue of messages for a transport that reports, as ECMA-419's do, how many bytes may be written.
 *
 * Writes never exceed that number; waiting bytes never exceed the limit. Of a message in pieces only the piece
 * that is being written is held as bytes.
 */
export class WriteQueue {
	private readonly limit: number;
	private readonly overhead: number;
	private readonly writer: PartWriter;
	/** The message that is being written. Most need not wait, and so no place in an array. */
	private message: ArrayBuffer | PiecedText | undefined;
	private readonly waiting: (ArrayBuffer | PiecedText)[] = [];
	/** Bytes of the message that are written. */
	private written = 0;
	/** The piece of the message that is being written: the whole of it, unless it is in pieces. */
	private piece: ArrayBuffer | undefined;
	private pieceWritten = 0;
	private writable = 0;
	/** Queued bytes. */
	bytes = 0;

	/**
	 * @param limit bytes that may wait
	 * @param overhead bytes that the transport adds to the first part of a message
	 */
	constructor(limit: number, overhead: number, writer: PartWriter) {
		this.limit = limit;
		this.overhead = overhead;
		this.writer = writer;
	}

	/** Bytes that may be written past the queue: none while a message waits. The caller tells what is left by `onWritable`. */
	get room(): number {
		return this.message === undefined ? this.writable : 0;
	}

	/** @returns false when more would wait than may: the message is not taken */
	push(text: Sendable): boolean {
		const message = typeof text === "string" ? ArrayBuffer.fromString(text) : text;
		// Most messages are written as a whole, at once.
		if (this.message === undefined && message instanceof ArrayBuffer) {
			const size = message.byteLength;
			if (size <= this.limit && size + this.overhead <= this.writable) {
				this.writable = 0;
				this.writable = this.writer.write(new Uint8Array(message), size, true, true);
				// More may have come meanwhile.
				if (this.message !== undefined) {
					this.drain();
				}
				return true;
			}
		}
		const bytes = this.bytes + costOf(message);
		if (bytes > this.limit) {
			return false;
		}
		this.bytes = bytes;
		if (this.message === undefined) {
			this.message = message;
			this.drain();
		} else {
			this.waiting.push(message);
		}
		return true;
	}

	/** Tells that this many bytes may be written now. */
	onWritable(count: number): void {
		this.writable = count;
		this.drain();
	}

	private drain(): void {
		let message = this.message;
		while (message !== undefined) {
			const piece = this.present(message);
			const left = piece.byteLength - this.pieceWritten;
			const room = this.writable - (this.written === 0 ? this.overhead : 0);
			const size = left < room ? left : room;
			if (size < 0 || (size < left && size < MIN_PART)) {
				return;
			}
			this.writePart(message, piece, size);
			message = this.message;
		}
	}

	/** The piece of a message that is to be written now. */
	private present(message: ArrayBuffer | PiecedText): ArrayBuffer {
		let piece = this.piece;
		if (piece === undefined || this.pieceWritten === piece.byteLength) {
			piece = message instanceof ArrayBuffer ? message : message.take();
			this.piece = piece;
			this.pieceWritten = 0;
		}
		return piece;
	}

	private writePart(message: ArrayBuffer | PiecedText, piece: ArrayBuffer, size: number): void {
		const part = new Uint8Array(piece, this.pieceWritten, size);
		const messageBytes = bytesOf(message);
		const isFirst = this.written === 0;
		this.written += size;
		this.pieceWritten += size;
		const isLast = this.written === messageBytes;
		if (isLast) {
			this.bytes -= costOf(message);
			this.message = this.waiting.shift();
			this.written = 0;
			this.piece = undefined;
		}
		this.writable = this.writer.write(part, messageBytes, isFirst, isLast);
	}
}

/** A waiting message's share of the limit: of one in pieces only a piece is held. */
const costOf = (message: ArrayBuffer | PiecedText): number =>
	message instanceof ArrayBuffer ? message.byteLength : PIECE_COST;

const bytesOf = (message: ArrayBuffer | PiecedText): number =>
	message instanceof ArrayBuffer ? message.byteLength : message.bytes;
