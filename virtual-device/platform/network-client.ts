import { Arrivals, toBuffer } from "./arrivals.js";
import { receive, send } from "./bridge.js";

/** The callbacks common to ECMA-419's clients. */
export interface ClientOptions<Part> {
	readonly onReadable?: (count: number, part: Part) => void;
	readonly onWritable?: (count: number) => void;
	readonly onClose?: () => void;
	readonly onError?: (error: Error) => void;
}

let lastId = 0;

/**
 * The common part of the stand-ins for ECMA-419's network clients: Node has the connection, and messages about it carry
 * the client's id.
 *
 * Like the SDK's, a client announces a part of a message only when the previous one was read, and writes all or throws.
 */
export abstract class NetworkClient<Part> {
	readonly #id: number;
	readonly #kind: string;
	readonly #clients: Map<number, NetworkClient<Part>>;
	readonly #options: ClientOptions<Part>;
	readonly #arrivals: Arrivals<Part>;
	#writable = 0;

	/**
	 * @param kind the prefix of its message kinds to and from Node
	 * @param clients the clients of that kind, by id: see {@link serve}
	 */
	constructor(kind: string, clients: Map<number, NetworkClient<Part>>, options: ClientOptions<Part>) {
		lastId += 1;
		this.#id = lastId;
		this.#kind = kind;
		this.#clients = clients;
		this.#options = options;
		this.#arrivals = new Arrivals({
			announce: (count, part) => options.onReadable?.(count, part),
			hold: (paused) => this.tell(paused ? "pause" : "resume"),
			isOpen: () => this.isOpen,
		});
		clients.set(this.#id, this);
	}

	protected get isOpen(): boolean {
		return this.#clients.has(this.#id);
	}

	read(count: number): ArrayBuffer | undefined {
		return this.#arrivals.read(count);
	}

	close(): void {
		if (this.#clients.delete(this.#id)) {
			this.tell("close");
		}
	}

	/** Calls back once everything received was read. */
	protected whenRead(callback: () => void): void {
		this.#arrivals.whenEmpty(callback);
	}

	/** Sends Node a message about this client. */
	protected tell(what: string, ...args: unknown[]): void {
		send([`${this.#kind}.${what}`, this.#id, ...args]);
	}

	/** @throws Error if this many bytes may not be written */
	protected expectRoom(bytes: number): void {
		if (!this.isOpen || bytes > this.#writable) {
			throw new Error(`${bytes} bytes written where ${this.#writable} may be`);
		}
	}

	/** Sends bytes to Node to write, and returns how many may follow. */
	protected writeBytes(data: ArrayBuffer | Uint8Array, ...args: unknown[]): number {
		this.#writable -= data.byteLength;
		send([`${this.#kind}.write`, this.#id, ...args], toBuffer(data));
		return this.#writable;
	}

	/** @internal This many more bytes may be written. */
	grant(count: number): void {
		this.#writable += count;
		this.#options.onWritable?.(this.#writable);
	}

	/** @internal A part of a message has arrived. */
	arrive(bytes: ArrayBuffer, part: Part): void {
		this.#arrivals.add(bytes, part);
	}

	/** @internal The connection is closed, possibly with an error. */
	end(error: string | undefined): void {
		this.#clients.delete(this.#id);
		if (error === undefined) {
			this.#options.onClose?.();
		} else {
			this.#options.onError?.(new Error(error));
		}
	}
}

/** Dispatches Node's messages to the clients of a kind. */
export function serve<Part>(kind: string, clients: ReadonlyMap<number, NetworkClient<Part>>): void {
	receive(`${kind}.writable`, ([id, count]) => clients.get(id as number)?.grant(count as number));
	receive(`${kind}.data`, ([id, part], bytes = new ArrayBuffer(0)) => {
		clients.get(id as number)?.arrive(bytes, part as Part);
	});
	receive(`${kind}.closed`, ([id]) => clients.get(id as number)?.end(undefined));
	receive(`${kind}.error`, ([id, message]) => clients.get(id as number)?.end(message as string));
}
