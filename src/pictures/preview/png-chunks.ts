/** Bytes of a chunk's length and type, and of its checksum, which is not checked. */
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Bytes of a chunk that is needed as a whole: the longest is a palette of 256 colours. */
const MAX_BYTES = 768;

/** Signature of a PNG file (PNG specification, clause 5.2), in decimal. */
const SIGNATURE = "137,80,78,71,13,10,26,10";

export interface ChunkReceiver {
	/** Takes a header or a palette, as a whole. */
	onChunk(type: "IHDR" | "PLTE", bytes: Uint8Array): void;
	/** Takes a piece of the compressed pixels. */
	onData(piece: Uint8Array): void;
}

/** The chunks of a PNG file that comes in pieces (PNG specification, clause 5). Those that are not needed are passed over. */
export class PngChunks {
	/** Whether the last chunk has come. */
	isWhole = false;
	private readonly receiver: ChunkReceiver;
	/** The received bytes of the part that is needed as a whole, and its length. */
	private held = new Uint8Array(HEAD_BYTES);
	private heldBytes = 0;
	private part: "signature" | "head" | "IHDR" | "PLTE" = "signature";
	/** Bytes of pixels, and then bytes to pass over, that come before the next part. */
	private dataBytes = 0;
	private skip = 0;

	constructor(receiver: ChunkReceiver) {
		this.receiver = receiver;
	}

	/** @throws Error if this is no PNG file */
	write(piece: Uint8Array): void {
		for (let at = 0; at < piece.byteLength && !this.isWhole; ) {
			const rest = piece.subarray(at);
			if (this.dataBytes > 0) {
				const data = rest.subarray(0, this.dataBytes);
				this.dataBytes -= data.byteLength;
				at += data.byteLength;
				this.receiver.onData(data);
			} else if (this.skip > 0) {
				const skipped = Math.min(this.skip, rest.byteLength);
				this.skip -= skipped;
				at += skipped;
			} else {
				at += this.hold(rest);
			}
		}
	}

	/** @returns how many bytes it took */
	private hold(rest: Uint8Array): number {
		const taken = rest.subarray(0, this.held.byteLength - this.heldBytes);
		this.held.set(taken, this.heldBytes);
		this.heldBytes += taken.byteLength;
		if (this.heldBytes === this.held.byteLength) {
			this.finishPart();
		}
		return taken.byteLength;
	}

	private finishPart(): void {
		const held = this.held;
		const part = this.part;
		this.expect("head", HEAD_BYTES);
		if (part === "signature") {
			if (held.join(",") !== SIGNATURE) {
				throw new Error("the file is neither a JPEG nor a PNG");
			}
		} else if (part === "head") {
			this.begin(held);
		} else {
			this.skip = CHECKSUM_BYTES;
			this.receiver.onChunk(part, held);
		}
	}

	private begin(head: Uint8Array): void {
		const length = new DataView(head.buffer).getUint32(0);
		const type = String.fromCharCode(...head.subarray(4));
		if (type === "IEND") {
			this.isWhole = true;
		} else if (type === "IDAT") {
			this.dataBytes = length;
			this.skip = CHECKSUM_BYTES;
		} else if (type === "IHDR" || type === "PLTE") {
			if (length === 0 || length > MAX_BYTES) {
				throw new Error("PNG damaged");
			}
			this.expect(type, length);
		} else {
			this.skip = length + CHECKSUM_BYTES;
		}
	}

	private expect(part: "head" | "IHDR" | "PLTE", bytes: number): void {
		this.part = part;
		this.held = new Uint8Array(bytes);
		this.heldBytes = 0;
	}
}
