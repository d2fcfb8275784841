import { measurePicture } from "./pictures.js";

/** The largest picture for the simulated screen, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Pictures that were taken, which the firmware reads piece by piece: they may be larger than its heap. */
export class TakenPictures {
	readonly #pictures = new Map<number, { readonly bytes: Uint8Array; at: number }>();
	#lastId = 0;

	add(bytes: Uint8Array): { readonly id: number; readonly byteLength: number } {
		this.#lastId += 1;
		this.#pictures.set(this.#lastId, { bytes, at: 0 });
		return { id: this.#lastId, byteLength: bytes.byteLength };
	}

	/** @throws Error if the picture is closed */
	read({ id, count }: { readonly id: number; readonly count: number }): Uint8Array {
		const picture = this.#pictures.get(id);
		if (picture === undefined) {
			throw new Error("the picture is closed");
		}
		const from = picture.at;
		picture.at += count;
		return picture.bytes.subarray(from, picture.at);
	}

	close(id: number): void {
		this.#pictures.delete(id);
	}
}

/** Pictures for the screen, which the firmware sends piece by piece. */
export class ShownPictures {
	readonly #pictures = new Map<number, { readonly pieces: Uint8Array[]; bytes: number }>();

	add(id: number, piece: Uint8Array = new Uint8Array(0)): void {
		const picture = this.#pictures.get(id) ?? { pieces: [], bytes: 0 };
		picture.bytes += piece.byteLength;
		if (picture.bytes <= MAX_BYTES) {
			picture.pieces.push(Uint8Array.from(piece));
		}
		this.#pictures.set(id, picture);
	}

	/**
	 * A complete picture, and its size in pixels.
	 *
	 * @throws Error if it is not a picture, or too large
	 */
	finish(id: number): { readonly picture: Uint8Array; readonly width: number; readonly height: number } {
		const { pieces = [], bytes = 0 } = this.#pictures.get(id) ?? {};
		this.#pictures.delete(id);
		if (bytes > MAX_BYTES) {
			throw new Error(`picture of ${bytes} bytes (limit ${MAX_BYTES})`);
		}
		const picture = Buffer.concat(pieces);
		const { width, height } = measurePicture(picture);
		return { picture, width, height };
	}

	cancel(id: number): void {
		this.#pictures.delete(id);
	}
}
