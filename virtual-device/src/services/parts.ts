/** Unacknowledged bytes of the firmware: the default send buffer of an ESP32's TCP stack. */
export const SEND_WINDOW = 5_744;

/** Messages reach the firmware in parts of this size, like TCP segments. */
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
