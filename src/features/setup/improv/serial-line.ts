import type { SerialPort, SerialRecord } from "../../../hardware/serial.js";

/** Bits per second: what web flashers speak. */
const BAUD = 115_200;

/** Bytes that may wait to be sent. Requests beyond that get no answer. */
const MAX_WAITING = 4_096;

/** A serial port that sends packets piece by piece, as it has room. */
export class SerialLine {
	private readonly port: SerialPort;
	private readonly waiting: Uint8Array[] = [];
	private room = 0;

	/** @throws if the port is in use, for example by the debugger */
	constructor({ io, ...record }: SerialRecord, onBytes: (bytes: Uint8Array) => void) {
		this.port = new io({
			...record,
			baud: BAUD,
			format: "buffer",
			onReadable: (count) => {
				const bytes = this.port.read(count);
				if (bytes !== undefined) {
					onBytes(new Uint8Array(bytes));
				}
			},
			onWritable: (count) => {
				this.room = count;
				this.flush();
			},
		});
	}

	write(packet: Uint8Array): void {
		const waiting = this.waiting.reduce((sum, { length }) => sum + length, 0);
		if (waiting + packet.length <= MAX_WAITING) {
			this.waiting.push(packet);
			this.flush();
		}
	}

	close(): void {
		this.port.close();
	}

	private flush(): void {
		for (let next = this.waiting[0]; next !== undefined && this.room > 0; next = this.waiting[0]) {
			const piece = next.slice(0, this.room);
			this.room -= piece.length;
			if (piece.length === next.length) {
				this.waiting.shift();
			} else {
				this.waiting[0] = next.slice(piece.length);
			}
			this.port.write(piece.buffer as ArrayBuffer);
		}
	}
}
