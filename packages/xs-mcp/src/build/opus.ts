// Opus (RFC 6716) for gateway and virtual device. The package is optional: it is loaded on use, and only here.

/** Samples of 16 bits and one channel. */
type Samples = Int16Array;

export interface OpusEncoder {
	/** @param samples one frame: of 5, 10, 20, 40 or 60 ms */
	encode(samples: Samples): Uint8Array;
	free(): void;
}

export interface OpusDecoder {
	/** @throws Error if it is no packet of Opus */
	decode(packet: Uint8Array): Samples;
	/** Conceals a lost packet with `count` samples. */
	decodePacketLoss(count: number): Samples;
	free(): void;
}

/** Sample rates of Opus, in hertz. */
export type OpusRate = 8_000 | 12_000 | 16_000 | 24_000 | 48_000;

/** The package's functions that are used here, as libopus-wasm 0.2 to 0.4 has them. */
interface Libopus {
	createEncoder(options: {
		readonly sampleRate: OpusRate;
		readonly channels: 1;
		readonly frameSize: number;
		readonly application: typeof AUDIO;
		readonly bitrate: number;
		readonly complexity: number;
	}): Promise<OpusEncoder>;
	createDecoder(options: { readonly sampleRate: OpusRate; readonly channels: 1 }): Promise<OpusDecoder>;
}

/** Name of the package. A literal in `import` would make type checks and bundles need it. */
const PACKAGE: string = "libopus-wasm";

/** OPUS_APPLICATION_AUDIO: faithful to the source. VOIP favours intelligible speech over a bad line. */
const AUDIO = 2_049;

/** Bits a second: 6 KB/s. Speech of 24 kHz then correlates with its source by 0.98. */
const BITRATE = 48_000;

/** From 0 to 10. At this bit rate, 10 takes five times the CPU, and is no closer to the source. */
const COMPLEXITY = 5;

/**
 * Opens an encoder of one channel. Rejects with an Error that names the package if it is not installed.
 *
 * @param frameDuration milliseconds of a packet
 */
export async function openOpusEncoder(sampleRate: OpusRate, frameDuration: number): Promise<OpusEncoder> {
	const { createEncoder } = await loadLibopus();
	const frameSize = (sampleRate * frameDuration) / 1_000;
	return await createEncoder({
		sampleRate,
		channels: 1,
		frameSize,
		application: AUDIO,
		bitrate: BITRATE,
		complexity: COMPLEXITY,
	});
}

/** Opens a decoder of one channel, for packets with any number of them. Rejects as {@link openOpusEncoder} does. */
export async function openOpusDecoder(sampleRate: OpusRate): Promise<OpusDecoder> {
	const { createDecoder } = await loadLibopus();
	return await createDecoder({ sampleRate, channels: 1 });
}

/** Whether the package is installed. It is not loaded. */
export function hasOpus(): boolean {
	try {
		import.meta.resolve(PACKAGE);
		return true;
	} catch {
		return false;
	}
}

async function loadLibopus(): Promise<Libopus> {
	try {
		return await import(PACKAGE);
	} catch (cause) {
		throw new Error(`Opus needs the package ${PACKAGE}: npm install ${PACKAGE}`, { cause });
	}
}
