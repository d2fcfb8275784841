/** Samples that wait, in the order in which they came. */
export class SampleQueue {
	#pieces: Int16Array[] = [];
	#length = 0;

	/** How many wait. */
	get length(): number {
		return this.#length;
	}

	add(samples: Int16Array): void {
		this.#pieces.push(samples);
		this.#length += samples.length;
	}

	/** The next samples. Zeros follow if fewer wait. */
	take(count: number): Int16Array {
		const taken = new Int16Array(count);
		for (let at = 0; at < count; ) {
			const first = this.#pieces[0];
			if (first === undefined) {
				break;
			}
			const piece = first.subarray(0, count - at);
			taken.set(piece, at);
			at += piece.length;
			this.#length -= piece.length;
			if (piece.length === first.length) {
				this.#pieces.shift();
			} else {
				this.#pieces[0] = first.subarray(piece.length);
			}
		}
		return taken;
	}
}
