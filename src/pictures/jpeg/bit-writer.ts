/** Bytes that there is room for at first. A square of a JPEG takes fewer, unless its quality is high. */
const FIRST_ROOM = 2_048;

/** Collects the bits of a JPEG as bytes, until they are taken. */
export class BitWriter {
	#bytes = new Uint8Array(FIRST_ROOM);
	#length = 0;
	/** Bits that are not a byte yet. */
	#bits = 0;
	#count = 0;

	/** Bytes that can be taken. */
	get byteLength(): number {
		return this.#length;
	}

	/** Takes the first bytes, at most so many. */
	take(count: number): Uint8Array {
		const taken = this.#bytes.slice(0, Math.min(count, this.#length));
		this.#bytes.copyWithin(0, taken.byteLength, this.#length);
		this.#length -= taken.byteLength;
		return taken;
	}

	/** @param count bits, 16 at most */
	write(value: number, count: number): void {
		this.#bits = (this.#bits << count) | value;
		this.#count += count;
		while (this.#count >= 8) {
			this.#count -= 8;
			const byte = (this.#bits >> this.#count) & 0xff;
			this.#push(byte);
			if (byte === 0xff) {
				// Otherwise it would begin a marker (B.1.1.5).
				this.#push(0);
			}
		}
		this.#bits &= (1 << this.#count) - 1;
	}

	/** Fills the last byte with ones (F.1.2.3). */
	align(): void {
		const count = (8 - this.#count) & 7;
		this.write((1 << count) - 1, count);
	}

	/** Writes bytes as they are. To be called between two bytes only. */
	writeBytes(bytes: Iterable<number>): void {
		for (const byte of bytes) {
			this.#push(byte);
		}
	}

	#push(byte: number): void {
		if (this.#length === this.#bytes.byteLength) {
			const larger = new Uint8Array(this.#length * 2);
			larger.set(this.#bytes);
			this.#bytes = larger;
		}
		this.#bytes[this.#length] = byte;
		this.#length += 1;
	}
}
