import type { Socket } from "../../src/protocols/websocket-client.js";

interface SocketOptions {
	readonly address: string;
	readonly host: string;
	readonly port: number;
	readonly [option: string]: unknown;
	onReadable(count: number): void;
	onWritable(count: number): void;
	onError(): void;
}

/** A socket by the rules of ECMA-419, as the SDK's are: what `read` returns and `write` takes is as `format` says. */
export class FakeSocket implements Socket {
	static readonly made: FakeSocket[] = [];
	readonly options: SocketOptions;
	format: "number" | "buffer" = "buffer";
	readonly written: number[] = [];
	writes = 0;
	closed = false;
	room = 0;
	#arrived: number[] = [];

	constructor(options: object) {
		this.options = options as SocketOptions;
		FakeSocket.made.push(this);
	}

	read(count?: number): ArrayBuffer | number | undefined {
		if (this.closed) {
			throw new Error("read after close");
		}
		if (this.format === "number") {
			return this.#arrived.shift();
		}
		if (count === undefined || count <= 0 || count > this.#arrived.length) {
			throw new Error("invalid");
		}
		return Uint8Array.from(this.#arrived.splice(0, count)).buffer;
	}

	write(data: Uint8Array): number {
		if (this.closed || this.format !== "buffer" || data.byteLength > this.room) {
			throw new Error("would block");
		}
		this.writes += 1;
		this.written.push(...data);
		this.room -= data.byteLength;
		return this.room;
	}

	close(): void {
		this.closed = true;
	}

	grant(count: number): void {
		this.room = count;
		this.options.onWritable(count);
	}

	/** Receives bytes. Like the SDK's sockets, it reports the number of unread bytes. */
	arrive(...pieces: readonly (Uint8Array | string)[]): void {
		for (const piece of pieces) {
			for (const byte of typeof piece === "string" ? new Uint8Array(ArrayBuffer.fromString(piece)) : piece) {
				this.#arrived.push(byte);
			}
			this.options.onReadable(this.#arrived.length);
		}
	}
}

export class FakeResolver {
	static readonly made: FakeResolver[] = [];
	answer!: { onResolved(host: string, address: string): void; onError(): void };
	host = "";

	constructor() {
		FakeResolver.made.push(this);
	}

	resolve(options: { host: string; onResolved(host: string, address: string): void; onError(): void }): void {
		this.host = options.host;
		this.answer = options;
	}
}
