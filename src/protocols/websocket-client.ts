import type { WebSocketClient, WebSocketClientOptions } from "./websocket-channel.js";
import { HandshakeResponse, handshakeRequest } from "./websocket-handshake.js";

/** https://www.rfc-editor.org/rfc/rfc6455#section-11.8 */
const OPCODE = Object.freeze({ continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const);

/** Bytes of the longest payload of a written frame. */
const MAX_WRITTEN_PAYLOAD = 65_535;

/** Bytes of the longest header of such a frame: two, a length of two, a mask. */
const MAX_WRITTEN_HEADER = 8;

const FINAL = 0x80;
const MASKED = 0x80;
const RESERVED = 0x70;

const MASK_LENGTH = 4;

/** Maximum bytes of a control frame's payload: https://www.rfc-editor.org/rfc/rfc6455#section-5.5 */
const MAX_CONTROL_PAYLOAD = 125;

/** An instance of ECMA-419's TCP or TLS socket. */
export interface Socket {
	/** The type of the next read and write: a byte or a buffer. */
	format: "number" | "buffer";
	/** Throws if there are fewer bytes. */
	read(count?: number): ArrayBuffer | number | undefined;
	/** Writes all or throws. Returns how many bytes may be written next. */
	write(data: Uint8Array): number | undefined;
	close(): void;
}

/** ECMA-419's records that a client needs, a DNS resolver and a socket, and the masking of its frames. */
export interface FramedWebSocketOptions extends WebSocketClientOptions {
	readonly dns: {
		readonly io: new (
			options: object,
		) => {
			resolve(options: { host: string; onResolved(host: string, address: string): void; onError(): void }): void;
		};
	};
	readonly socket: { readonly io: new (options: object) => Socket };
	/** XORs bytes in place with a repeated mask. Native, because XS would take longer than for the rest of the message. */
	readonly xor: (bytes: Uint8Array, mask: Uint8Array) => void;
}

/**
 * ECMA-419's WebSocket client without subprotocols and `attach`, for buffers only.
 *
 * It replaces the SDK's, whose faults leave a device deaf or end its machine (docs/sdk.md). Here
 *
 * - every read and write sets its format first, so a write between two bytes of a header does not affect the next read;
 * - unread bytes are counted where they are read, so a deferred read neither loses nor repeats a byte;
 * - no socket is opened for a client that was closed while its host's name was looked up;
 * - nothing is thrown out of a callback of the socket, where it would end the machine.
 */
export class FramedWebSocketClient implements WebSocketClient {
	private readonly options: FramedWebSocketOptions;
	private readonly response = new HandshakeResponse();
	private state: "resolving" | "connecting" | "handshake" | "open" | "closed" = "resolving";
	private socket: Socket | undefined;
	/** The unsent rest of the request. */
	private request: Uint8Array;
	/** Bytes that can be read from the socket. */
	private available = 0;
	/** Bytes that can be written to the socket. */
	private writable = 0;
	private isReceiving = false;
	/** Whether the next part to be written continues a message. */
	private continues = false;
	/** The pending answer to a ping or close. */
	private reply: { readonly opcode: number; readonly payload: Uint8Array } | undefined;
	private opcode = 0;
	/** Whether the present frame is the last of its message. */
	private final = false;
	/** Number of bytes read of the header, and bytes of its extended length. */
	private headerBytes = 0;
	private extended = 0;
	/** Length of the payload, by the part of the header that was read. */
	private length = 0;
	/** Bytes of the present frame's payload that have not been offered; undefined between frames. */
	private remaining: number | undefined;
	/** Offered, unread bytes: they must be read before anything else is received. */
	private unread = 0;
	/** The received part of a control frame's payload. */
	private controlBytes: number[] = [];
	/** Whether the present message is binary; undefined between messages. */
	private binary: boolean | undefined;

	/** Connects at once. */
	constructor(options: FramedWebSocketOptions) {
		this.options = options;
		this.request = handshakeRequest(options);
		const { dns, host } = options;
		new dns.io(dns).resolve({
			host,
			onResolved: (_host, address) => this.guard(() => this.connect(address)),
			onError: () => this.fail(new Error(`${host}: address not found`)),
		});
	}

	close(): void {
		this.state = "closed";
		this.socket?.close();
		this.socket = undefined;
	}

	/**
	 * Reads from the offered bytes.
	 *
	 * @param count bytes; default: all
	 * @returns undefined if there is nothing to read
	 */
	read(count = this.unread): ArrayBuffer | undefined {
		const bytes = Math.min(count, this.unread);
		if (bytes <= 0 || this.socket === undefined) {
			return undefined;
		}
		this.unread -= bytes;
		this.available -= bytes;
		if (!this.isReceiving) {
			// Deferred, because callers do not expect a callback during a read.
			void Promise.resolve().then(() => this.receive());
		}
		this.socket.format = "buffer";
		return this.socket.read(bytes) as ArrayBuffer;
	}

	/**
	 * Writes a part of a message, or a control frame. Writes all or throws.
	 *
	 * @returns how many bytes may be written next
	 * @throws Error without room or a connection
	 */
	write(data: Uint8Array, { opcode, binary = true, more = false }: Parameters<WebSocketClient["write"]>[1]): number {
		if (!this.hasRoom(data)) {
			throw new Error(`no room for ${data.byteLength} bytes`);
		}
		if (opcode !== undefined) {
			this.writeFrame(opcode, true, data);
		} else {
			const first = binary ? OPCODE.binary : OPCODE.text;
			this.writeFrame(this.continues ? OPCODE.continuation : first, !more, data);
			this.continues = more;
		}
		return this.room;
	}

	private get room(): number {
		return Math.max(0, Math.min(this.writable - MAX_WRITTEN_HEADER, MAX_WRITTEN_PAYLOAD));
	}

	private hasRoom({ byteLength }: Uint8Array): boolean {
		const fits = byteLength <= MAX_WRITTEN_PAYLOAD && byteLength + MAX_WRITTEN_HEADER <= this.writable;
		return fits && this.state === "open";
	}

	private connect(address: string): void {
		if (this.state !== "resolving") {
			return;
		}
		this.state = "connecting";
		const { socket, host, port } = this.options;
		this.socket = new socket.io({
			...socket,
			address,
			host,
			port,
			onReadable: (count: number) => {
				this.available = count;
				this.receive();
			},
			onWritable: (count: number) => {
				this.writable = count;
				this.guard(() => this.send());
			},
			onError: () => this.fail(),
		});
	}

	private send(): void {
		if (this.state === "connecting") {
			const part = this.request.subarray(0, this.writable);
			this.request = this.request.subarray(part.byteLength);
			this.writeBytes(part);
			if (this.request.byteLength === 0) {
				this.state = "handshake";
			}
			return;
		}
		if (this.state === "open" && this.reply !== undefined && this.hasRoom(this.reply.payload)) {
			const { opcode, payload } = this.reply;
			this.reply = undefined;
			this.writeFrame(opcode, true, payload);
			if (opcode === OPCODE.close) {
				this.close();
				this.options.onClose();
			}
		}
		if (this.state === "open") {
			this.options.onWritable(this.room);
		}
	}

	/** Receives from the socket, until a read is deferred. */
	private receive(): void {
		if (this.isReceiving) {
			return;
		}
		this.isReceiving = true;
		this.guard(() => {
			while (this.available > 0 && this.unread === 0 && this.socket !== undefined) {
				if (this.state === "open") {
					this.receiveFrame(this.available);
				} else if (this.response.push(this.readByte())) {
					this.state = "open";
					this.send();
				}
			}
		});
		this.isReceiving = false;
	}

	/**
	 * Receives a byte of a header or control frame, or offers all available bytes of another frame's payload.
	 *
	 * @param available bytes that have arrived, at least 1
	 * @throws Error if the server violates the protocol
	 */
	private receiveFrame(available: number): void {
		if (this.remaining !== undefined) {
			if (!this.isControl) {
				this.offer(this.remaining, available);
			} else if (this.controlBytes.push(this.readByte()) === this.remaining) {
				this.finishControl();
			}
		} else if (this.readHeader(this.readByte())) {
			this.startPayload();
		}
	}

	private get isControl(): boolean {
		return this.opcode >= OPCODE.close;
	}

	/** Reads a byte of the header. @returns whether the header is whole */
	private readHeader(byte: number): boolean {
		const at = this.headerBytes++;
		if (at === 0) {
			this.readOpcode(byte);
			return false;
		}
		if (at === 1) {
			this.readLength(byte);
		} else {
			this.length = this.length * 256 + byte;
		}
		if (this.headerBytes < 2 + this.extended) {
			return false;
		}
		this.headerBytes = 0;
		return true;
	}

	private readOpcode(byte: number): void {
		this.opcode = byte & 0x0f;
		this.final = (byte & FINAL) !== 0;
		const isKnown = this.isControl ? this.opcode <= OPCODE.pong : this.opcode <= OPCODE.binary;
		if ((byte & RESERVED) !== 0 || !isKnown) {
			throw new Error(`unknown WebSocket frame 0x${byte.toString(16)}`);
		}
	}

	private readLength(byte: number): void {
		if ((byte & MASKED) !== 0) {
			throw new Error("masked WebSocket frame from the server");
		}
		if (this.isControl && (!this.final || byte > MAX_CONTROL_PAYLOAD)) {
			throw new Error("WebSocket control frame fragmented or too long");
		}
		this.extended = byte === 126 ? 2 : byte === 127 ? 8 : 0;
		this.length = this.extended === 0 ? byte : 0;
	}

	private startPayload(): void {
		const { isControl, length, opcode } = this;
		this.remaining = length;
		if (isControl) {
			this.controlBytes = [];
		} else if ((opcode === OPCODE.continuation) !== (this.binary !== undefined)) {
			throw new Error("unexpected WebSocket data frame: continuation without a start, or a start before the end");
		} else {
			this.binary ??= opcode === OPCODE.binary;
		}
		if (length === 0) {
			isControl ? this.finishControl() : this.offer(0, 0);
		}
	}

	private offer(remaining: number, available: number): void {
		const count = Math.min(remaining, available);
		const binary = this.binary === true;
		const isLastPart = count === remaining;
		const more = !(isLastPart && this.final);
		this.remaining = isLastPart ? undefined : remaining - count;
		if (!more) {
			this.binary = undefined;
		}
		this.unread = count;
		this.options.onReadable(count, { more, binary });
	}

	private finishControl(): void {
		const { opcode } = this;
		const payload = Uint8Array.from(this.controlBytes);
		this.remaining = undefined;
		this.options.onControl(opcode, payload.buffer);
		if (this.socket !== undefined && opcode !== OPCODE.pong) {
			// Of several pings only the last need be answered: https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3
			this.reply = { opcode: opcode === OPCODE.ping ? OPCODE.pong : opcode, payload };
			this.send();
		}
	}

	private readByte(): number {
		const socket = this.socket as Socket;
		this.available -= 1;
		socket.format = "number";
		return socket.read() as number;
	}

	/** Writes a client's frame, whose payload is masked. @param payload at most {@link MAX_WRITTEN_PAYLOAD} bytes */
	private writeFrame(opcode: number, isFinal: boolean, payload: Uint8Array): void {
		const { byteLength } = payload;
		const headerLength = byteLength <= MAX_CONTROL_PAYLOAD ? 6 : MAX_WRITTEN_HEADER;
		const frame = new Uint8Array(headerLength + byteLength);
		frame[0] = (isFinal ? FINAL : 0) | opcode;
		if (headerLength === 6) {
			frame[1] = MASKED | byteLength;
		} else {
			frame[1] = MASKED | 126;
			frame[2] = byteLength >> 8;
			frame[3] = byteLength & 0xff;
		}
		for (let at = headerLength - MASK_LENGTH; at < headerLength; at += 1) {
			frame[at] = Math.random() * 256;
		}
		frame.set(payload, headerLength);
		this.options.xor(frame.subarray(headerLength), frame.subarray(headerLength - MASK_LENGTH, headerLength));
		this.writeBytes(frame);
	}

	private writeBytes(bytes: Uint8Array): void {
		const socket = this.socket as Socket;
		socket.format = "buffer";
		this.writable = socket.write(bytes) ?? 0;
	}

	private guard(run: () => void): void {
		try {
			run();
		} catch (error) {
			this.fail(error);
		}
	}

	private fail(error?: unknown): void {
		if (this.state !== "closed") {
			this.close();
			this.options.onError(error);
		}
	}
}
