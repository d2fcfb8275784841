const PACKAGE: string = "libopus-wasm";

interface OpusDecoder {
	decode(packet: Uint8Array): Int16Array;
	free(): void;
}

/** Opens a decoder of one channel. Rejects if the package is not installed: it is optional. */
export async function openOpusDecoder(sampleRate: number): Promise<OpusDecoder> {
	const { createDecoder } = await import(PACKAGE);
	return await createDecoder({ sampleRate, channels: 1 });
}
