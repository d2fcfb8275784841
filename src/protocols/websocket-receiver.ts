import { FrameHeader, OPCODE } from "./websocket-frame.js";

/** Input and events of a {@link FrameReceiver}. */
export interface FrameEvents {
	/** The next byte of what has arrived. */
	readByte(): number;
	/** A part of a message can be read; 0 bytes if it is empty. */
	onPart(count: number, options: { readonly more: boolean; readonly binary: boolean }): void;
	/** A whole control frame has been read. */
	onControl(opcode: number, payload: Uint8Array<ArrayBuffer>): void;
}

/** Receives a server's frames: reads headers and control frames itself, and offers the payload of the others. */
export class FrameReceiver {
	private readonly events: FrameEvents;
	private readonly header = new FrameHeader();
	/** Bytes of the present frame's payload that have not been offered; undefined between frames. */
	private remaining: number | undefined;
	/** Offered, unread bytes: they must be read before anything else is received. */
	unread = 0;
	/** The received part of a control frame's payload. */
	private control: number[] = [];
	/** Whether the present message is binary; undefined between messages. */
	private binary: boolean | undefined;

	constructor(events: FrameEvents) {
		this.events = events;
	}

	/**
	 * Receives a byte of a header or control frame, or offers all available bytes of another frame's payload.
	 *
	 * @param available bytes that have arrived, at least 1
	 * @throws Error if the server violates the protocol
	 */
	receive(available: number): void {
		const header = this.header;
		if (this.remaining !== undefined) {
			if (!header.isControl) {
				this.offer(this.remaining, available);
			} else if (this.control.push(this.events.readByte()) === this.remaining) {
				this.finishControl();
			}
		} else if (header.push(this.events.readByte())) {
			this.begin();
		}
	}

	private begin(): void {
		const { isControl, length } = this.header;
		this.remaining = length;
		if (isControl) {
			this.control = [];
		} else {
			this.checkOrder();
		}
		if (length === 0) {
			isControl ? this.finishControl() : this.offer(0, 0);
		}
	}

	private checkOrder(): void {
		const { opcode } = this.header;
		if ((opcode === OPCODE.continuation) !== (this.binary !== undefined)) {
			throw new Error("unexpected WebSocket data frame: continuation without a start, or a start before the end");
		}
		this.binary ??= opcode === OPCODE.binary;
	}

	private offer(remaining: number, available: number): void {
		const count = Math.min(remaining, available);
		const binary = this.binary === true;
		const isLastPart = count === remaining;
		const more = !(isLastPart && this.header.final);
		this.remaining = isLastPart ? undefined : remaining - count;
		if (!more) {
			this.binary = undefined;
		}
		this.unread = count;
		this.events.onPart(count, { more, binary });
	}

	private finishControl(): void {
		this.remaining = undefined;
		this.events.onControl(this.header.opcode, Uint8Array.from(this.control));
	}
}
