import { receive, send } from "./bridge.js";

interface Options {
	readonly host: string;
	readonly port: number;
	readonly path: string;
	readonly headers: ReadonlyMap<string, string>;
	readonly secure?: boolean;
	readonly onReadable?: (count: number, options: { more: boolean; binary: boolean }) => void;
	readonly onWritable?: (count: number) => void;
	readonly onControl?: (opcode: number, data: ArrayBuffer) => void;
	readonly onClose?: () => void;
	readonly onError?: (error: Error) => void;
}

interface WriteOptions {
	readonly opcode?: number;
	readonly binary?: boolean;
	readonly more?: boolean;
}

/** A part of a message that has come in, and how much of it is read. */
interface Arrival {
	readonly bytes: ArrayBuffer;
	readonly more: boolean;
	readonly binary: boolean;
	read: number;
}

const clients = new Map<number, WebSocketClient>();
let lastId = 0;

/**
 * Stands in for ECMA-419's WebSocket client (`embedded:network/websocket/client`): Node has the socket.
 *
 * Like the SDK's, it tells of a part of a message only when the one before is read, and writes all or throws.
 */
export class WebSocketClient {
	readonly #id: number;
	readonly #options: Options;
	readonly #arrivals: Arrival[] = [];
	#writable = 0;
	#announced = false;
	#announcing = false;
	#paused = false;

	constructor(options: Options) {
		lastId += 1;
		this.#id = lastId;
		this.#options = options;
		clients.set(this.#id, this);
		const { host, port, path, headers, secure } = options;
		const authority = host.includes(":") ? `[${host}]` : host;
		send(["ws.open", this.#id, `${secure ? "wss" : "ws"}://${authority}:${port}${path}`, [...headers]]);
	}

	read(count: number): ArrayBuffer | undefined {
		const arrival = this.#arrivals[0];
		if (arrival === undefined || arrival.bytes.byteLength === 0) {
			return undefined;
		}
		const start = arrival.read;
		arrival.read = Math.min(start + count, arrival.bytes.byteLength);
		if (arrival.read === arrival.bytes.byteLength) {
			this.#finishArrival();
		}
		return start === 0 && this.#arrivals[0] !== arrival ? arrival.bytes : arrival.bytes.slice(start, arrival.read);
	}

	write(data: ArrayBuffer | Uint8Array, { opcode, binary = true, more = false }: WriteOptions = {}): number {
		if (!clients.has(this.#id) || data.byteLength > this.#writable) {
			throw new Error(`${data.byteLength} bytes written where ${this.#writable} may be`);
		}
		this.#writable -= data.byteLength;
		send(["ws.write", this.#id, opcode ?? (binary ? 2 : 1), more], toBuffer(data));
		return this.#writable;
	}

	close(): void {
		if (clients.delete(this.#id)) {
			send(["ws.close", this.#id]);
		}
	}

	/** @internal Node tells that this many more bytes may be written. */
	grant(count: number): void {
		this.#writable += count;
		this.#options.onWritable?.(this.#writable);
	}

	/** @internal A part of a message has come in. */
	arrive(bytes: ArrayBuffer, more: boolean, binary: boolean): void {
		this.#arrivals.push({ bytes, more, binary, read: 0 });
		if (this.#arrivals.length === 1) {
			this.#announce();
		}
	}

	/** @internal */
	control(opcode: number, data: ArrayBuffer): void {
		this.#options.onControl?.(opcode, data);
	}

	/** @internal The socket is gone: in order, or with an error. */
	end(error: string | undefined): void {
		clients.delete(this.#id);
		if (error === undefined) {
			this.#options.onClose?.();
		} else {
			this.#options.onError?.(new Error(error));
		}
	}

	#announce(): void {
		this.#announcing = true;
		let arrival = this.#arrivals[0];
		while (arrival !== undefined && !this.#announced && clients.has(this.#id)) {
			this.#announced = true;
			this.#options.onReadable?.(arrival.bytes.byteLength, arrival);
			if (arrival.bytes.byteLength === 0) {
				this.#finishArrival();
			}
			arrival = this.#arrivals[0];
		}
		this.#announcing = false;
		this.#hold(arrival !== undefined);
	}

	/** The next part is announced after whoever reads is done with this one. */
	#finishArrival(): void {
		this.#arrivals.shift();
		this.#announced = false;
		if (!this.#announcing) {
			void Promise.resolve().then(() => this.#announce());
		}
	}

	/** Nobody reads: Node must not send more. */
	#hold(paused: boolean): void {
		if (paused !== this.#paused && clients.has(this.#id)) {
			this.#paused = paused;
			send([paused ? "ws.pause" : "ws.resume", this.#id]);
		}
	}
}

function toBuffer(data: ArrayBuffer | Uint8Array): ArrayBuffer {
	if (data instanceof ArrayBuffer) {
		return data;
	}
	const { buffer, byteOffset, byteLength } = data;
	const whole = byteLength === buffer.byteLength;
	return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}

receive("ws.writable", ([id, count]) => clients.get(id as number)?.grant(count as number));
receive("ws.data", ([id, more, binary], bytes) => {
	clients.get(id as number)?.arrive(bytes ?? new ArrayBuffer(0), more as boolean, binary as boolean);
});
receive("ws.control", ([id, opcode], bytes) => {
	clients.get(id as number)?.control(opcode as number, bytes ?? new ArrayBuffer(0));
});
receive("ws.closed", ([id]) => clients.get(id as number)?.end(undefined));
receive("ws.error", ([id, message]) => clients.get(id as number)?.end(message as string));
