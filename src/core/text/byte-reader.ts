/** Reads structures of known sizes from bytes that arrive in pieces of any size. */
export class ByteReader {
	private bytes = new Uint8Array(0);
	/** Number of bytes still to arrive that are ignored. */
	private toSkip = 0;

	/** Number of bytes that have arrived and were not read. */
	get available(): number {
		return this.bytes.byteLength;
	}

	/** Adds a copy of a piece. */
	push(piece: Uint8Array): void {
		const skipped = Math.min(this.toSkip, piece.byteLength);
		this.toSkip -= skipped;
		this.bytes = joinBytes(this.bytes, piece.subarray(skipped));
	}

	/** Returns the next bytes without reading them; undefined until all of them have arrived. */
	peek(count: number): Uint8Array | undefined {
		return this.bytes.byteLength < count ? undefined : this.bytes.subarray(0, count);
	}

	/** Reads the next bytes; undefined until all of them have arrived. */
	read(count: number): Uint8Array | undefined {
		const bytes = this.peek(count);
		if (bytes !== undefined) {
			this.skip(count);
		}
		return bytes;
	}

	/** Reads the bytes that have arrived, at most `count`. */
	readSome(count: number): Uint8Array {
		const bytes = this.bytes.subarray(0, count);
		this.skip(bytes.byteLength);
		return bytes;
	}

	/** Ignores the next bytes, whether or not they have arrived. */
	skip(count: number): void {
		const skipped = Math.min(count, this.bytes.byteLength);
		this.bytes = this.bytes.subarray(skipped);
		this.toSkip += count - skipped;
	}
}

/** Returns the concatenation of two arrays. */
export const joinBytes = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
	const both = new Uint8Array(first.byteLength + second.byteLength);
	both.set(first);
	both.set(second, first.byteLength);
	return both;
};
