/** Holds back the first bytes of a firmware image until there are enough to check. */
export class ImageHead {
	private readonly size: number;
	private readonly check: (head: Uint8Array) => void;
	private held = new Uint8Array(0);
	private isChecked = false;

	/**
	 * @param size bytes that are needed for the check
	 * @param check throws if the image is not acceptable
	 */
	constructor(size: number, check: (head: Uint8Array) => void) {
		this.size = size;
		this.check = check;
	}

	/**
	 * Takes the next piece.
	 *
	 * @returns the bytes that may be stored now, in order; undefined if none may yet
	 * @throws Error of the check
	 */
	take(piece: ArrayBuffer): ArrayBuffer | undefined {
		if (this.isChecked) {
			return piece;
		}
		const held = new Uint8Array(this.held.byteLength + piece.byteLength);
		held.set(this.held);
		held.set(new Uint8Array(piece), this.held.byteLength);
		this.held = held;
		if (held.byteLength < this.size) {
			return undefined;
		}
		this.check(held);
		this.isChecked = true;
		this.held = new Uint8Array(0);
		return held.buffer;
	}

	/** @throws Error if the image ended before its head did */
	expectWhole(): void {
		if (!this.isChecked) {
			throw new Error(`image of ${this.held.byteLength} bytes is shorter than its header`);
		}
	}
}
