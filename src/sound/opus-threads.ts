/**
 * A thread of libopus, in `opus-thread.c`. It decodes packets to the samples of one channel, or encodes them, while blocks are
 * written and results are read.
 */
export class OpusThread extends Native("xs_opus_destructor") {
	/**
	 * @param sampleRate Hertz, one that Opus has
	 * @param frame number of samples per packet: to conceal lost packets, or to encode
	 * @param prebuffer number of packets to buffer before decoding starts, and again after a gap; undefined to encode
	 * @throws Error without memory for it
	 */
	constructor(sampleRate: number, frame: number, prebuffer?: number) {
		super();
		native("xs_opus_constructor").call(this, sampleRate, frame, prebuffer);
	}

	/**
	 * @param block is copied: a packet, empty if it was lost; or the samples of exactly one packet
	 * @returns false if too many wait: it is dropped
	 */
	write(block: Uint8Array): boolean {
		return native("xs_opus_write").call(this, block) as boolean;
	}

	/** No blocks follow. */
	complete(): void {
		native("xs_opus_complete").call(this);
	}

	/** Returns the samples of a packet, or a packet; undefined while none is ready, null once all were read. */
	read(): ArrayBuffer | undefined | null {
		return native("xs_opus_read").call(this) as ArrayBuffer | undefined | null;
	}

	/** Ends it. @returns blocks that could not be decoded or encoded */
	close(): number {
		return native("xs_opus_close").call(this) as number;
	}
}
