/** Milliseconds of a frame by configuration, the first five bits of a packet: RFC 6716, section 3.1. */
const SILK = [10, 20, 40, 60];
const HYBRID = [10, 20];
const CELT = [2.5, 5, 10, 20];

/** Milliseconds of sound that a packet may have: RFC 6716, section 3.2.5. */
const MAX_DURATION = 120;

/**
 * Tells how long a packet of Opus lasts, from its first two bytes.
 *
 * @returns milliseconds
 * @throws RangeError if it is no packet of Opus
 */
export function packetDuration(packet: Uint8Array): number {
	const [toc = 0, count = 0] = packet;
	const configuration = toc >> 3;
	const durations = configuration < 12 ? SILK : configuration < 16 ? HYBRID : CELT;
	const code = toc & 3;
	const frames = code === 3 ? count & 0x3f : code === 0 ? 1 : 2;
	const duration = frames * (durations[configuration % durations.length] as number);
	if (packet.byteLength === 0 || duration === 0 || duration > MAX_DURATION) {
		throw new RangeError("no packet of Opus");
	}
	return duration;
}
