/** https://www.rfc-editor.org/rfc/rfc6455#section-11.8 */
export const OPCODE = Object.freeze({ continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const);

/** Bytes of the longest payload that {@link maskedFrame} takes. */
export const MAX_WRITTEN_PAYLOAD = 65_535;

/** Bytes of the longest header of such a frame: two, a length of two, a mask. */
export const MAX_WRITTEN_HEADER = 8;

export const FINAL = 0x80;
export const MASKED = 0x80;
export const RESERVED = 0x70;

const MASK_LENGTH = 4;

/** Maximum bytes of a control frame's payload: https://www.rfc-editor.org/rfc/rfc6455#section-5.5 */
export const MAX_CONTROL_PAYLOAD = 125;

/** XORs bytes in place with a repeated mask. Native, because XS would take longer than for the rest of the message. */
export type Xor = (bytes: Uint8Array, mask: Uint8Array) => void;

/** A client's frame, whose payload is masked. @param payload at most {@link MAX_WRITTEN_PAYLOAD} bytes */
export const maskedFrame = (opcode: number, final: boolean, payload: Uint8Array, xor: Xor): Uint8Array => {
	const { byteLength } = payload;
	const headerLength = byteLength <= MAX_CONTROL_PAYLOAD ? 6 : MAX_WRITTEN_HEADER;
	const frame = new Uint8Array(headerLength + byteLength);
	frame[0] = (final ? FINAL : 0) | opcode;
	if (headerLength === 6) {
		frame[1] = MASKED | byteLength;
	} else {
		frame[1] = MASKED | 126;
		frame[2] = byteLength >> 8;
		frame[3] = byteLength & 0xff;
	}
	for (let at = headerLength - MASK_LENGTH; at < headerLength; at += 1) {
		frame[at] = Math.random() * 256;
	}
	frame.set(payload, headerLength);
	xor(frame.subarray(headerLength), frame.subarray(headerLength - MASK_LENGTH, headerLength));
	return frame;
};
