/** Stands in for the SDK's `crc`: a checksum of 8 bits, without reflection. */
export class CRC8 {
	readonly #polynomial: number;
	readonly #initial: number;
	#value: number;

	constructor(polynomial: number, initial = 0) {
		this.#polynomial = polynomial;
		this.#initial = initial;
		this.#value = initial;
	}

	/** Starts again. */
	reset(): this {
		this.#value = this.#initial;
		return this;
	}

	/** The checksum of these bytes, after those before. */
	checksum(bytes: Uint8Array): number {
		for (const byte of bytes) {
			this.#value ^= byte;
			for (let bit = 0; bit < 8; bit += 1) {
				this.#value = ((this.#value << 1) ^ (this.#value & 0x80 ? this.#polynomial : 0)) & 0xff;
			}
		}
		return this.#value;
	}
}

export default CRC8;
