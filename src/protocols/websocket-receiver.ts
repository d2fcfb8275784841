import { FINAL, MASKED, MAX_CONTROL_PAYLOAD, OPCODE, RESERVED } from "./websocket-frame.js";

/** Receives a server's frames (RFC 6455 §5.2): reads headers and control frames, and offers other payloads. */
export abstract class FrameReceiver {
	private opcode = 0;
	/** Whether the present frame is the last of its message. */
	private final = false;
	/** Bytes of the header that are read, and of its extended length. */
	private headerBytes = 0;
	private extended = 0;
	/** Length of the payload, from the bytes of the header so far. */
	private length = 0;
	/** Bytes of the present frame's payload that have not been offered; undefined between frames. */
	private remaining: number | undefined;
	/** Offered, unread bytes: they must be read before anything else is received. */
	protected unread = 0;
	/** The received part of a control frame's payload. */
	private controlBytes: number[] = [];
	/** Whether the present message is binary; undefined between messages. */
	private binary: boolean | undefined;

	/** Reads the next byte of what has arrived. */
	protected abstract readByte(): number;

	/** A part of a message can be read; 0 bytes if it is empty. */
	protected abstract onPart(count: number, part: { readonly more: boolean; readonly binary: boolean }): void;

	/** A whole control frame has been read. */
	protected abstract onControl(opcode: number, payload: Uint8Array<ArrayBuffer>): void;

	/**
	 * Receives a byte of a header or control frame, or offers all available bytes of another frame's payload.
	 *
	 * @param available bytes that have arrived, at least 1
	 * @throws Error if the server violates the protocol
	 */
	protected receiveFrame(available: number): void {
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
		this.onPart(count, { more, binary });
	}

	private finishControl(): void {
		this.remaining = undefined;
		this.onControl(this.opcode, Uint8Array.from(this.controlBytes));
	}
}
