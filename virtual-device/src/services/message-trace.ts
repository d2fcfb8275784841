/** A message between a device and its backend. */
export interface TracedMessage {
	readonly from: "device" | "backend";
	readonly over: "websocket" | "mqtt";
	/** Of MQTT. */
	readonly topic?: string;
	readonly bytes: Buffer;
	/** Whether the device received it: false while the backend is silenced. */
	readonly arrived: boolean;
}

/** Frames of a WebSocket that carry messages: RFC 6455 §5.2. */
const DATA_OPCODES: readonly unknown[] = [1, 2];

/** The operation of an MQTT client's write that publishes. */
const PUBLISH = 3;

interface Parts {
	readonly pieces: Uint8Array[];
	readonly topic: string | undefined;
	/** MQTT: bytes that the device has still to write. */
	remaining: number;
}

interface WriteOptions {
	readonly operation?: number;
	readonly topic: string;
	readonly byteLength?: number;
}

interface DataOptions {
	readonly topic?: string;
	readonly more: boolean;
}

/** Puts the parts of messages together, as they go between the firmware and its sockets. */
export class MessageTrace {
	readonly #onMessage: (message: TracedMessage) => void;
	/** Incomplete messages, by connection and direction. */
	readonly #incomplete = new Map<string, Parts>();

	constructor(onMessage: (message: TracedMessage) => void) {
		this.#onMessage = onMessage;
	}

	/** A part that the firmware writes: `args` are those of "ws.write" or "mqtt.write". */
	write(prefix: string, [id, first, more]: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const key = `> ${prefix}.${id}`;
		if (prefix === "ws") {
			if (DATA_OPCODES.includes(first)) {
				this.#add(key, undefined, bytes);
				if (!more) {
					this.#end(key, { from: "device", over: "websocket", arrived: true });
				}
			}
		} else if (prefix === "mqtt") {
			this.#publish(key, first as WriteOptions | null, bytes);
		}
	}

	/** A part that arrives for the firmware: `args` are those of "ws.data" or "mqtt.data". */
	data(prefix: string, [id, first]: readonly unknown[], bytes: Uint8Array | undefined, arrived: boolean): void {
		const key = `< ${prefix}.${id}`;
		const { topic, more } = first as DataOptions;
		this.#add(key, topic, bytes ?? new Uint8Array(0));
		if (!more) {
			this.#end(key, { from: "backend", over: prefix === "ws" ? "websocket" : "mqtt", arrived });
		}
	}

	/** A connection has ended. */
	closed(prefix: string, id: unknown): void {
		this.#incomplete.delete(`> ${prefix}.${id}`);
		this.#incomplete.delete(`< ${prefix}.${id}`);
	}

	#publish(key: string, options: WriteOptions | null, bytes: Uint8Array): void {
		if (options !== null && (options.operation ?? PUBLISH) !== PUBLISH) {
			return;
		}
		const parts = this.#add(key, options?.topic, bytes, options?.byteLength ?? bytes.byteLength);
		parts.remaining -= bytes.byteLength;
		if (parts.remaining <= 0) {
			this.#end(key, { from: "device", over: "mqtt", arrived: true });
		}
	}

	#add(key: string, topic: string | undefined, bytes: Uint8Array, remaining = 0): Parts {
		const parts = this.#incomplete.get(key) ?? { pieces: [], topic, remaining };
		parts.pieces.push(Uint8Array.from(bytes));
		this.#incomplete.set(key, parts);
		return parts;
	}

	#end(key: string, message: Omit<TracedMessage, "bytes" | "topic">): void {
		const { pieces, topic } = this.#incomplete.get(key) as Parts;
		this.#incomplete.delete(key);
		this.#onMessage({ ...message, ...(topic !== undefined && { topic }), bytes: Buffer.concat(pieces) });
	}
}
