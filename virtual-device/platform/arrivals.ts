/** A received part of a message. */
interface Arrival<Options> {
	readonly bytes: ArrayBuffer;
	readonly options: Options;
	read: number;
}

interface ArrivalsOptions<Options> {
	/** Notifies the client's owner that something can be read. */
	readonly announce: (count: number, options: Options) => void;
	/** Pauses or resumes Node's sending. */
	readonly hold: (paused: boolean) => void;
	/** Whether the client still exists. */
	readonly isOpen: () => boolean;
}

/**
 * Parts of messages that wait to be read, as in the SDK's clients: a part is announced only when the one before has
 * been read, however long that takes.
 */
export class Arrivals<Options> {
	readonly #options: ArrivalsOptions<Options>;
	readonly #waiting: Arrival<Options>[] = [];
	#announced = false;
	#announcing = false;
	#paused = false;
	#onEmpty: (() => void) | undefined;

	constructor(options: ArrivalsOptions<Options>) {
		this.#options = options;
	}

	add(bytes: ArrayBuffer, options: Options): void {
		this.#waiting.push({ bytes, options, read: 0 });
		if (this.#waiting.length === 1) {
			this.#announce();
		}
	}

	/** @returns undefined if there is nothing to read, as for an empty message */
	read(count: number): ArrayBuffer | undefined {
		const arrival = this.#waiting[0];
		if (arrival === undefined || arrival.bytes.byteLength === 0) {
			return undefined;
		}
		const start = arrival.read;
		arrival.read = Math.min(start + count, arrival.bytes.byteLength);
		const isWhole = start === 0 && arrival.read === arrival.bytes.byteLength;
		if (arrival.read === arrival.bytes.byteLength) {
			this.#finish();
		}
		return isWhole ? arrival.bytes : arrival.bytes.slice(start, arrival.read);
	}

	/** Calls back once everything has been read: now, if nothing waits. */
	whenEmpty(callback: () => void): void {
		if (this.#waiting.length === 0) {
			callback();
		} else {
			this.#onEmpty = callback;
		}
	}

	#announce(): void {
		this.#announcing = true;
		let arrival = this.#waiting[0];
		while (arrival !== undefined && !this.#announced && this.#options.isOpen()) {
			this.#announced = true;
			this.#options.announce(arrival.bytes.byteLength, arrival.options);
			if (arrival.bytes.byteLength === 0) {
				this.#finish();
			}
			arrival = this.#waiting[0];
		}
		this.#announcing = false;
		this.#hold(arrival !== undefined);
		if (arrival === undefined) {
			this.#onEmpty?.();
			this.#onEmpty = undefined;
		}
	}

	/** The next part is announced after this one was read. */
	#finish(): void {
		this.#waiting.shift();
		this.#announced = false;
		if (!this.#announcing) {
			void Promise.resolve().then(() => this.#announce());
		}
	}

	#hold(paused: boolean): void {
		if (paused !== this.#paused && this.#options.isOpen()) {
			this.#paused = paused;
			this.#options.hold(paused);
		}
	}
}

/** The bytes of a view or a buffer, as a buffer of just them. */
export function toBuffer(data: ArrayBuffer | Uint8Array): ArrayBuffer {
	if (data instanceof ArrayBuffer) {
		return data;
	}
	const { buffer, byteOffset, byteLength } = data;
	const whole = byteLength === buffer.byteLength;
	return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}
