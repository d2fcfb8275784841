import type { MqttClient, MqttClientOptions } from "../../src/protocols/mqtt-channel.js";
import type { WebSocketClient, WebSocketClientOptions } from "../../src/protocols/websocket-channel.js";

interface Part {
	readonly bytes: ArrayBuffer;
	readonly more: boolean;
	readonly binary: boolean;
}

/** A network client by the rules of ECMA-419: it writes all or throws. */
abstract class FakeClient {
	readonly written: { bytes: Uint8Array; options: Record<string, unknown> }[] = [];
	closed = false;
	room = 0;
	readonly #inbox: Part[] = [];
	/** Reported and unread data. As with the SDK's clients, nothing more is reported until it is read, if it has a byte. */
	#unread: ArrayBuffer | undefined;

	abstract readonly options: {
		onReadable(count: number, options: { more: boolean; binary: boolean }): void;
		onWritable(count: number): void;
	};

	read(count: number): ArrayBuffer | undefined {
		const part = this.#unread;
		if (part === undefined) {
			return undefined;
		}
		if (this.closed || part.byteLength !== count) {
			throw new Error(`${count} bytes read of ${part.byteLength}${this.closed ? " after close" : ""}`);
		}
		this.#unread = undefined;
		return part;
	}

	close(): void {
		this.closed = true;
	}

	/** Makes room for this many bytes. Bytes that were read make way for later ones. */
	grant(count: number): void {
		this.room = count;
		this.options.onWritable(count);
		this.#tell();
	}

	/** A message comes in, in these parts, or the part of one that comes in now. */
	arrive(parts: readonly (string | ArrayBuffer)[], { binary = false, unfinished = false } = {}): void {
		for (const [at, part] of parts.entries()) {
			const bytes = typeof part === "string" ? ArrayBuffer.fromString(part) : part;
			this.#inbox.push({ bytes, more: unfinished || at < parts.length - 1, binary });
		}
		this.#tell();
	}

	protected tellReadable(count: number, options: { more: boolean; binary: boolean }): void {
		this.options.onReadable(count, options);
	}

	#tell(): void {
		while (this.#unread === undefined) {
			const part = this.#inbox.shift();
			if (part === undefined) {
				return;
			}
			const { bytes, more, binary } = part;
			this.#unread = bytes.byteLength === 0 ? undefined : bytes;
			this.tellReadable(bytes.byteLength, { more, binary });
		}
	}

	get messages(): string[] {
		const messages: string[] = [];
		let bytes: number[] = [];
		for (const { bytes: part, options } of this.written) {
			if (options.opcode !== undefined) {
				continue;
			}
			bytes.push(...part);
			if (!options.more) {
				messages.push(String.fromArrayBuffer(Uint8Array.from(bytes).buffer));
				bytes = [];
			}
		}
		return messages;
	}

	protected take(data: Uint8Array, options: Record<string, unknown>, overhead = 0): number {
		if (this.closed || data.byteLength + overhead > this.room) {
			throw new Error(`${data.byteLength} bytes written where ${this.room} may be`);
		}
		this.room -= data.byteLength + overhead;
		this.written.push({ bytes: data.slice(), options });
		return this.room;
	}
}

export class FakeWebSocketClient extends FakeClient implements WebSocketClient {
	static readonly made: FakeWebSocketClient[] = [];
	readonly options: WebSocketClientOptions & Readonly<Record<string, unknown>>;

	constructor(options: WebSocketClientOptions) {
		super();
		this.options = options as WebSocketClientOptions & Record<string, unknown>;
		FakeWebSocketClient.made.push(this);
	}

	/** Behaves like the SDK's client: the header of every frame, also of a ping, takes room. */
	write(data: Uint8Array, options: { opcode?: number; binary?: boolean; more?: boolean }): number {
		this.take(data, options);
		this.room = Math.max(0, this.room - (data.byteLength < 126 ? 6 : 8));
		return this.room;
	}
}

export class FakeMqttClient extends FakeClient implements MqttClient {
	static readonly made: FakeMqttClient[] = [];
	readonly options: MqttClientOptions & Readonly<Record<string, unknown>>;
	readonly operations: Record<string, unknown>[] = [];
	#remaining = 0;

	constructor(options: MqttClientOptions) {
		super();
		this.options = options as MqttClientOptions & Record<string, unknown>;
		FakeMqttClient.made.push(this);
	}

	/** Behaves like the SDK's client: a message's first part carries its topic, and nothing else may be written until it is whole. */
	write(data: Uint8Array, options?: { operation?: number; topic?: string; byteLength?: number }): number {
		if (options?.operation !== undefined) {
			this.operations.push(options);
			return this.room;
		}
		if ((options === undefined) !== this.#remaining > 0) {
			throw new Error(`${this.#remaining} bytes of a message left`);
		}
		this.#remaining = (options?.byteLength ?? this.#remaining) - data.byteLength;
		return this.take(data, { ...options, more: this.#remaining > 0 }, options ? (options.topic ?? "").length + 4 : 0);
	}

	/** Behaves like the SDK's client, which continues with its socket after `onReadable`, and throws where nobody can catch it. */
	protected override tellReadable(count: number, { more }: { more: boolean }): void {
		this.options.onReadable(count, { more });
		if (this.closed) {
			throw new TypeError("closed while it was reading");
		}
	}
}
