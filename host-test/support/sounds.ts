import { type OpusRate, openOpusDecoder } from "xs-mcp/build/opus";
import type { VirtualDevice } from "xs-mcp-virtual-device";

export function follow(device: VirtualDevice): { rate: number; samples: () => Int16Array } {
	const pieces: Buffer[] = [];
	const heard = { rate: 0, samples: () => new Int16Array(Uint8Array.from(Buffer.concat(pieces)).buffer) };
	device.on("samples", ({ sampleRate, samples }) => {
		heard.rate = sampleRate;
		pieces.push(samples);
	});
	return heard;
}

export async function decode(packets: readonly Uint8Array[], rate: OpusRate): Promise<Int16Array> {
	const decoder = await openOpusDecoder(rate);
	const samples = Int16Array.from(packets.flatMap((packet) => [...decoder.decode(packet)]));
	decoder.free();
	return samples;
}
