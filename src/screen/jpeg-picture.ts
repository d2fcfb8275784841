import { joinBytes } from "../core/text/byte-reader.js";
import type { Rectangle } from "./brush.js";
import { FittedPicture, type PictureScreen } from "./fitted-picture.js";
import { JpegHeader } from "./jpeg-header.js";

/** Moddable's JPEG decoder. Only one can exist, because it keeps its state in static variables of C. */
export interface JpegDecoder {
	/** Adds a piece of the file; without one, the file is complete. */
	push(piece?: ArrayBuffer): void;
	/**
	 * Reads a block, which is valid until the next one is read.
	 *
	 * @throws Error if the file is damaged, or ends too early
	 */
	read(): Rectangle | undefined;
	/** Whether decoding has begun, and there are blocks to read. */
	readonly ready: boolean;
	/** The pieces that are not completely decoded. The first may be decoded in part. */
	readonly buffers: readonly ArrayBuffer[];
	/** The pixels of the latest block, 16 bits each. */
	readonly pixels: ArrayBuffer;
}

/** Decoder of a picture file that is drawn as it arrives. */
export interface PictureDecoder {
	/** @throws Error that says why the picture cannot be shown */
	write(piece: Uint8Array): void;
	/** @throws Error if the picture is not whole */
	end(): void;
	/** Releases its memory. */
	close(): void;
}

/** Minimum bytes given to the decoder, which must not run out of them within a block: a block takes up to half. */
const PIECE_BYTES = 3_072;

/** A baseline JPEG that the SDK's decoder draws block by block as it arrives. */
export class JpegPicture implements PictureDecoder {
	private readonly screen: PictureScreen;
	private readonly openDecoder: () => JpegDecoder;
	private readonly header = new JpegHeader();
	private decoder: JpegDecoder | undefined;
	private picture: FittedPicture | undefined;
	private pixels: Uint16Array | undefined;
	private blocksLeft = 0;
	/** Bytes that wait for the decoder. */
	private waiting = new Uint8Array(0);

	constructor(screen: PictureScreen, openDecoder: () => JpegDecoder) {
		this.screen = screen;
		this.openDecoder = openDecoder;
	}

	write(piece: Uint8Array): void {
		if (this.decoder !== undefined) {
			this.add(piece);
			return;
		}
		const rest = this.header.take(piece);
		const { frame, bytes } = this.header;
		if (rest !== undefined && frame !== undefined) {
			this.decoder = this.openDecoder();
			this.blocksLeft = Math.ceil(frame.width / frame.blockWidth) * Math.ceil(frame.height / frame.blockHeight);
			this.picture = new FittedPicture(this.screen, frame.width, frame.height, frame.blockHeight);
			this.add(bytes);
			this.add(rest);
		}
	}

	end(): void {
		if (this.decoder === undefined) {
			throw new Error("JPEG truncated within its header");
		}
		this.give();
		this.decoder.push();
		if (this.blocksLeft > 0) {
			this.expectReady();
		}
		while (this.blocksLeft > 0) {
			this.draw();
		}
	}

	close(): void {
		this.decoder = undefined;
	}

	private add(piece: Uint8Array): void {
		if (this.blocksLeft === 0) {
			return;
		}
		this.waiting = joinBytes(this.waiting, piece);
		if (this.waiting.byteLength < PIECE_BYTES) {
			return;
		}
		this.give();
		const decoder = this.decoder as JpegDecoder;
		if (decoder.buffers.length > 2) {
			this.expectReady();
		}
		while (decoder.ready && decoder.buffers.length > 1) {
			this.draw();
		}
	}

	/** Called when the decoder has enough bytes to begin. It gives no reason if it has not. */
	private expectReady(): void {
		if (!this.decoder?.ready) {
			throw new Error("the JPEG cannot be decoded");
		}
	}

	/** Gives the decoder all waiting bytes as one piece, because a piece must not be shorter than a block. */
	private give(): void {
		if (this.waiting.byteLength > 0) {
			this.decoder?.push(this.waiting.buffer);
			this.waiting = new Uint8Array(0);
		}
	}

	private draw(): void {
		const decoder = this.decoder as JpegDecoder;
		const block = readBlock(decoder);
		this.pixels ??= new Uint16Array(decoder.pixels);
		this.blocksLeft -= 1;
		this.picture?.add(block, this.pixels);
	}
}

const readBlock = (decoder: JpegDecoder): Rectangle => {
	try {
		const block = decoder.read();
		if (block !== undefined) {
			return block;
		}
	} catch {
		// The SDK's decoder says only "jpeg read failed".
	}
	throw new Error("JPEG damaged or truncated");
};
