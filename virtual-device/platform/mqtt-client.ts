import { Arrivals, toBuffer } from "./arrivals.js";
import { receive, send } from "./bridge.js";

interface PartOptions {
	readonly more: boolean;
	/** With the first part of a message. */
	readonly topic?: string;
	readonly byteLength?: number;
	readonly QoS?: number;
}

interface Options {
	readonly host: string;
	readonly port: number;
	readonly id: string;
	readonly user?: string;
	readonly password?: string;
	/** Milliseconds. */
	readonly keepAlive?: number;
	readonly will?: object;
	readonly secure?: boolean;
	readonly onReadable?: (count: number, options: PartOptions) => void;
	readonly onWritable?: (count: number) => void;
	readonly onControl?: (message: object) => void;
	readonly onClose?: () => void;
	readonly onError?: (error: Error) => void;
}

interface WriteOptions {
	readonly operation?: number;
	readonly topic?: string;
	readonly QoS?: number;
	readonly byteLength?: number;
	readonly items?: readonly object[];
}

const PUBLISH = 3;

const clients = new Map<number, MQTTClient>();
let lastId = 0;

/**
 * Stands in for ECMA-419's MQTT client (`embedded:network/mqtt/client`): Node has the socket, and makes and reads the
 * packets with `mqtt-packet`.
 */
export class MQTTClient {
	readonly #id: number;
	readonly #options: Options;
	readonly #arrivals: Arrivals<PartOptions>;
	#writable = 0;
	/** Bytes of the present message that are yet to be written. */
	#remaining = 0;

	constructor(options: Options) {
		lastId += 1;
		const id = lastId;
		this.#id = id;
		this.#options = options;
		this.#arrivals = new Arrivals({
			announce: (count, part) => options.onReadable?.(count, part),
			hold: (paused) => send([paused ? "mqtt.pause" : "mqtt.resume", id]),
			isOpen: () => clients.has(id),
		});
		clients.set(id, this);
		const { host, port, id: clientId, user, password, keepAlive = 0, will, secure = false } = options;
		send(["mqtt.open", id, { host, port, clientId, user, password, keepAlive, will, secure }]);
	}

	read(count: number): ArrayBuffer | undefined {
		return this.#arrivals.read(count);
	}

	write(data: ArrayBuffer | Uint8Array, options?: WriteOptions): number {
		if (!clients.has(this.#id) || data.byteLength > this.#writable) {
			throw new Error(`${data.byteLength} bytes written where ${this.#writable} may be`);
		}
		this.#expectTurn(data.byteLength, options);
		this.#writable -= data.byteLength;
		send(["mqtt.write", this.#id, options ?? null], toBuffer(data));
		return this.#writable;
	}

	close(): void {
		if (clients.delete(this.#id)) {
			send(["mqtt.close", this.#id]);
		}
	}

	/** While a message is on its way, nothing but its further parts may be written. */
	#expectTurn(bytes: number, options: WriteOptions | undefined): void {
		if (options === undefined) {
			if (bytes > this.#remaining) {
				throw new Error(`${bytes} bytes written where ${this.#remaining} of the message are left`);
			}
			this.#remaining -= bytes;
		} else if (this.#remaining > 0) {
			throw new Error("a message is not whole yet");
		} else if ((options.operation ?? PUBLISH) === PUBLISH) {
			this.#remaining = (options.byteLength ?? bytes) - bytes;
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

	/** @internal Another packet has come in. */
	control(message: object): void {
		this.#options.onControl?.(message);
	}

	/** @internal The connection is gone: in order, or with an error. */
	end(error: string | undefined): void {
		clients.delete(this.#id);
		if (error === undefined) {
			this.#options.onClose?.();
		} else {
			this.#options.onError?.(new Error(error));
		}
	}
}

receive("mqtt.writable", ([id, count]) => clients.get(id as number)?.grant(count as number));
receive("mqtt.data", ([id, options], bytes = new ArrayBuffer(0)) => {
	clients.get(id as number)?.arrive(bytes, options as PartOptions);
});
receive("mqtt.control", ([id, message]) => clients.get(id as number)?.control(message as object));
receive("mqtt.closed", ([id]) => clients.get(id as number)?.end(undefined));
receive("mqtt.error", ([id, message]) => clients.get(id as number)?.end(message as string));
