import { Arrivals, toBuffer } from "./arrivals.js";
import { receive, send } from "./bridge.js";

interface PartOptions {
	readonly more: boolean;
	readonly binary: boolean;
}

interface Options {
	readonly host: string;
	readonly port: number;
	readonly path: string;
	readonly headers: ReadonlyMap<string, string>;
	readonly secure?: boolean;
	readonly onReadable?: (count: number, options: PartOptions) => void;
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
	readonly #arrivals: Arrivals<PartOptions>;
	#writable = 0;

	constructor(options: Options) {
		lastId += 1;
		const id = lastId;
		this.#id = id;
		this.#options = options;
		this.#arrivals = new Arrivals({
			announce: (count, part) => options.onReadable?.(count, part),
			hold: (paused) => send([paused ? "ws.pause" : "ws.resume", id]),
			isOpen: () => clients.has(id),
		});
		clients.set(id, this);
		const { host, port, path, headers, secure } = options;
		const authority = host.includes(":") ? `[${host}]` : host;
		send(["ws.open", id, `${secure ? "wss" : "ws"}://${authority}:${port}${path}`, [...headers]]);
	}

	read(count: number): ArrayBuffer | undefined {
		return this.#arrivals.read(count);
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
	arrive(bytes: ArrayBuffer, options: PartOptions): void {
		this.#arrivals.add(bytes, options);
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
}

receive("ws.writable", ([id, count]) => clients.get(id as number)?.grant(count as number));
receive("ws.data", ([id, more, binary], bytes = new ArrayBuffer(0)) => {
	clients.get(id as number)?.arrive(bytes, { more: more as boolean, binary: binary as boolean });
});
receive("ws.control", ([id, opcode], bytes = new ArrayBuffer(0)) => {
	clients.get(id as number)?.control(opcode as number, bytes);
});
receive("ws.closed", ([id]) => clients.get(id as number)?.end(undefined));
receive("ws.error", ([id, message]) => clients.get(id as number)?.end(message as string));
