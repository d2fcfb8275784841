/** Bytes the firmware may have on their way, as an ESP32's TCP stack would: its default send buffer. */
export const SEND_WINDOW = 5_744;

/** Messages reach the firmware in parts of this size, as TCP segments would bring them. */
const PART_BYTES = 1_436;

/** Cuts a message into parts; an empty one is one empty part. */
export function* splitIntoParts(data: Buffer): Generator<[part: Buffer, more: boolean]> {
	let at = 0;
	do {
		const part = data.subarray(at, at + PART_BYTES);
		at += PART_BYTES;
		yield [part, at < data.byteLength];
	} while (at < data.byteLength);
}
