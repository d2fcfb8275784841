/** Decodes or encodes while blocks are written and results are read: packets and samples, or samples and packets. */
export interface OpusThread {
	/**
	 * @param block is copied
	 * @returns false if too many wait: it is dropped
	 */
	write(block: Uint8Array): boolean;
	/** No blocks follow. */
	complete(): void;
	/** The samples of a packet, or a packet: undefined while none is ready, null once all were read. */
	read(): ArrayBuffer | undefined | null;
	/** Ends it. @returns blocks that could not be decoded or encoded */
	close(): number;
}

/** A thread of libopus: `opus-thread.c`. */
class NativeThread extends Native("xs_opus_destructor") implements OpusThread {
	write(block: Uint8Array): boolean {
		return native("xs_opus_write").call(this, block) as boolean;
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

/** Decodes packets of Opus to the samples of one channel. An empty packet is one that was lost. */
export class OpusDecoder extends NativeThread {
	/**
	 * @param sampleRate Hertz, one that Opus has
	 * @param frame number of samples per packet, used to conceal lost packets
	 * @param prebuffer number of packets to buffer before decoding starts, and again after a gap
	 * @throws Error without memory for it
	 */
	constructor(sampleRate: number, frame: number, prebuffer: number) {
		super();
		native("xs_opus_decoder").call(this, sampleRate, frame, prebuffer);
	}
}

/** Encodes the samples of one channel to packets of Opus. */
export class OpusEncoder extends NativeThread {
	/**
	 * @param sampleRate Hertz, one that Opus has
	 * @param frame number of samples per packet; each `write` takes exactly one packet's samples
	 * @throws Error without memory for it
	 */
	constructor(sampleRate: number, frame: number) {
		super();
		native("xs_opus_encoder").call(this, sampleRate, frame);
	}
}
