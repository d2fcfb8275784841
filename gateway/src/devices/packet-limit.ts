import { Transform, type TransformCallback } from "node:stream";

/** The largest MQTT packet of a device, in bytes. */
const MAX_PACKET_BYTES = 1024 * 1024;

/** MQTT 3.1.1 §2.2.3: a packet's length has at most four bytes of seven bits. */
const MAX_LENGTH_BYTES = 4;

/** Passes MQTT packets on, and ends the stream at one that is too long, before it is read into memory. */
export class PacketLimit extends Transform {
	/** Bytes of the present packet that are yet to come. */
	#remaining = 0;
	/** The packet's length as far as it is read; undefined between packets. */
	#length: { value: number; bytes: number } | undefined;

	override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
		let at = 0;
		while (at < chunk.length) {
			if (this.#remaining > 0) {
				const skipped = Math.min(this.#remaining, chunk.length - at);
				this.#remaining -= skipped;
				at += skipped;
			} else if (!this.#readHeader(chunk[at] as number)) {
				done(new Error("MQTT packet too large"));
				return;
			} else {
				at += 1;
			}
		}
		done(null, chunk);
	}

	/** @returns whether the packet may go on */
	#readHeader(byte: number): boolean {
		if (this.#length === undefined) {
			this.#length = { value: 0, bytes: 0 };
			return true;
		}
		this.#length.value += (byte & 0x7f) * 128 ** this.#length.bytes;
		this.#length.bytes += 1;
		if (byte >= 0x80) {
			return this.#length.bytes < MAX_LENGTH_BYTES;
		}
		this.#remaining = this.#length.value;
		this.#length = undefined;
		return this.#remaining <= MAX_PACKET_BYTES;
	}
}
