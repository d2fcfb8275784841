import type { PacketDecoder } from "./opus-codec.js";

/** Decodes Opus to one channel in a thread of its own: `opus-decoder.c`. */
export class OpusDecoder extends Native("xs_opus_destructor") implements PacketDecoder {
	/**
	 * @param sampleRate Hertz, one that Opus has
	 * @param frame samples of a packet, for those that are lost
	 * @param prebuffer packets that have to wait before the first is decoded, and again after a gap
	 * @throws Error without memory for it
	 */
	constructor(sampleRate: number, frame: number, prebuffer: number) {
		super();
		native("xs_opus_constructor").call(this, sampleRate, frame, prebuffer);
	}

	write(packet: Uint8Array): boolean {
		return native("xs_opus_write").call(this, packet) as boolean;
	}

	complete(): void {
		native("xs_opus_complete").call(this);
	}

	read(): ArrayBuffer | undefined | null {
		return native("xs_opus_read").call(this) as ArrayBuffer | undefined | null;
	}

	close(): number {
		return native("xs_opus_close").call(this) as number;
	}
}
