import { forget, isRegistered, register, send } from "./bridge.js";

/** The callbacks common to ECMA-419's clients. */
export interface ClientOptions<Part> {
	readonly onReadable?: (count: number, part: Part) => void;
	readonly onWritable?: (count: number) => void;
	readonly onClose?: () => void;
	readonly onError?: (error: Error) => void;
}

/** Whether a client's connection uses TLS. */
export interface Secure {
	readonly secure?: boolean;
}

/** A received part of a message. */
interface Arrival<Part> {
	readonly bytes: ArrayBuffer;
	readonly part: Part;
	read: number;
}

/**
 * The common part of the stand-ins for ECMA-419's network clients: Node has the connection, and messages about it carry
 * the client's id.
 *
 * Like the SDK's, a client announces a part of a message only when the previous one was read, however long that takes, and writes
 * all or throws.
 */
export abstract class NetworkClient<Part> {
	readonly #id: number;
	readonly #kind: string;
	readonly #options: ClientOptions<Part>;
	/** Parts of messages that wait to be read. */
	readonly #waiting: Arrival<Part>[] = [];
	#isAnnounced = false;
	#isAnnouncing = false;
	#isPaused = false;
	#onEmpty: (() => void) | undefined;
	#writable = 0;

	/** @param kind the prefix of its message kinds to and from Node */
	constructor(kind: string, options: ClientOptions<Part>) {
		this.#id = register(this);
		this.#kind = kind;
		this.#options = options;
	}

	protected get isOpen(): boolean {
		return isRegistered(this.#id);
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

	close(): void {
		if (forget(this.#id)) {
			this.tell("close");
		}
	}

	/** Calls back once everything received was read: now, if nothing waits. */
	protected whenRead(callback: () => void): void {
		if (this.#waiting.length === 0) {
			callback();
		} else {
			this.#onEmpty = callback;
		}
	}

	/** Sends Node a message about this client. */
	protected tell(what: string, ...args: unknown[]): void {
		send([`${this.#kind}.${what}`, this.#id, ...args]);
	}

	/** @throws Error if there is no room to write this many bytes */
	protected expectRoom(bytes: number): void {
		if (!this.isOpen || bytes > this.#writable) {
			throw new Error(`${bytes} bytes written where ${this.#writable} may be`);
		}
	}

	/** Returns how many bytes of the message may follow. @throws Error if fewer bytes are left than these */
	protected expectRest(bytes: number, rest: number): number {
		if (bytes > rest) {
			throw new Error(`${bytes} bytes written where ${rest} of the message are left`);
		}
		return rest - bytes;
	}

	/** Sends bytes to Node to write, and returns how many may follow. */
	protected writeBytes(data: ArrayBuffer | Uint8Array, ...args: unknown[]): number {
		this.#writable -= data.byteLength;
		send([`${this.#kind}.write`, this.#id, ...args], data);
		return this.#writable;
	}

	/** @internal This many more bytes may be written. */
	writable(count: number): void {
		this.#writable += count;
		this.#options.onWritable?.(this.#writable);
	}

	/** @internal A part of a message has arrived. */
	data(part: Part, bytes = new ArrayBuffer(0)): void {
		this.#waiting.push({ bytes, part, read: 0 });
		if (this.#waiting.length === 1) {
			this.#announce();
		}
	}

	/** @internal The connection is closed. */
	closed(): void {
		forget(this.#id);
		this.#options.onClose?.();
	}

	/** @internal The connection has failed. */
	error(message: string): void {
		forget(this.#id);
		this.#options.onError?.(new Error(message));
	}

	#announce(): void {
		this.#isAnnouncing = true;
		let arrival = this.#waiting[0];
		while (arrival !== undefined && !this.#isAnnounced && this.isOpen) {
			this.#isAnnounced = true;
			this.#options.onReadable?.(arrival.bytes.byteLength, arrival.part);
			if (arrival.bytes.byteLength === 0) {
				this.#finish();
			}
			arrival = this.#waiting[0];
		}
		this.#isAnnouncing = false;
		this.#hold(arrival !== undefined);
		if (arrival === undefined) {
			this.#onEmpty?.();
			this.#onEmpty = undefined;
		}
	}

	/** The next part is announced after this one was read. */
	#finish(): void {
		this.#waiting.shift();
		this.#isAnnounced = false;
		if (!this.#isAnnouncing) {
			void Promise.resolve().then(() => this.#announce());
		}
	}

	/** Pauses or resumes Node's sending. */
	#hold(isPaused: boolean): void {
		if (isPaused !== this.#isPaused && this.isOpen) {
			this.#isPaused = isPaused;
			this.tell(isPaused ? "pause" : "resume");
		}
	}
}
