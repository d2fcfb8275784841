import type { ByteSource } from "../../hardware/pictures.js";
import { JpegEncoder, type Pixels } from "./jpeg-encoder.js";

/** Bytes that are handed over at a time, at most. */
const PIECE_BYTES = 1_024;

/**
 * Pixels as a JPEG file that is encoded while it is read, so that it takes little memory. To know its length, it is encoded
 * once before: that takes time, not memory.
 */
export class EncodedJpeg implements ByteSource {
	readonly byteLength: number;
	readonly #release: () => void;
	readonly #encoder: JpegEncoder;

	/**
	 * @param quality 1 to 100
	 * @param release called when the pixels are not needed any more, perhaps more than once
	 */
	constructor(pixels: Pixels, quality: number, release: () => void = () => {}) {
		this.#release = release;
		this.byteLength = measure(new JpegEncoder(pixels, quality));
		this.#encoder = new JpegEncoder(pixels, quality);
	}

	async read(count: number): Promise<Uint8Array> {
		const most = Math.min(count, PIECE_BYTES);
		const encoder = this.#encoder;
		while (encoder.available < most && encoder.encodeMore()) {
			// Until there is enough.
		}
		return encoder.take(most);
	}

	close(): void {
		this.#release();
	}
}

function measure(encoder: JpegEncoder): number {
	let bytes = 0;
	while (encoder.encodeMore()) {
		bytes += encoder.take(encoder.available).byteLength;
	}
	return bytes;
}
