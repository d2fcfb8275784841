/** Thrown for a message that is too long, or not valid text. */
export class MessageRejected extends Error {
	/** The first characters of a message that is too long; else empty. */
	readonly start: string;

	constructor(message: string, start = "") {
		super(message);
		this.start = start;
	}
}

/** Bytes of an oversized message that are searched for a request's id, or for a text before its glyphs. */
const START_BYTES = 2_048;

/**
 * Puts together messages that arrive in parts.
 *
 * Copies the parts into one buffer of the maximum size, because a peer may send many small parts. A
 * message over the limit is dropped as it arrives.
 */
export class MessageAssembler {
	private readonly limit: number;
	/** The present message so far, or the start of one that is too long. */
	private buffer: Uint8Array | undefined;
	/** Bytes of the present message so far, dropped ones included. */
	private bytes = 0;

	/** @param limit maximum bytes of a message */
	constructor(limit: number) {
		this.limit = limit;
	}

	/**
	 * Adds the next part of a message.
	 *
	 * @param more whether further parts of the same message follow
	 * @returns the message when it is whole
	 * @throws MessageRejected after the last part of a message that is too long
	 */
	append(part: ArrayBuffer, more: boolean): ArrayBuffer | undefined {
		const held = this.bytes;
		const bytes = part.byteLength;
		this.bytes += bytes;
		if (!more && held === 0) {
			return this.finish(part);
		}
		if (this.bytes <= this.limit) {
			this.buffer ??= new Uint8Array(this.limit);
			this.buffer.set(new Uint8Array(part), held);
		} else {
			this.buffer = (this.buffer ?? new Uint8Array(part)).slice(0, START_BYTES);
		}
		return more ? undefined : this.finish(this.buffer?.slice(0, this.bytes).buffer ?? new ArrayBuffer(0));
	}

	private finish(message: ArrayBuffer): ArrayBuffer {
		const bytes = this.bytes;
		this.bytes = 0;
		this.buffer = undefined;
		if (bytes > this.limit) {
			throw new MessageRejected(`${bytes} bytes (limit ${this.limit})`, startOf(message));
		}
		return message;
	}
}

/** Some peers send it before a text. */
const BYTE_ORDER_MARK = "\ufeff";

/** Some peers also send the terminator of a C string. */
const NUL = "\0";
const MAX_NULS = 8;

/**
 * Decodes a message as text, without a byte order mark at its start and NUL bytes at its end.
 *
 * @throws MessageRejected if it is not UTF-8, or has a NUL byte elsewhere
 */
export const decodeText = (message: ArrayBuffer): string => {
	let text: string;
	try {
		text = String.fromArrayBuffer(message);
	} catch {
		throw new MessageRejected(`not valid UTF-8`);
	}
	// XS 13 ends a text at a NUL byte; later versions keep it. Text that is all ASCII needs no search, which is slow.
	if (text.length < message.byteLength || text.endsWith(NUL)) {
		const bytes = new Uint8Array(message);
		const nul = bytes.indexOf(0);
		if (nul >= 0) {
			const end = bytes.subarray(nul);
			if (end.byteLength > MAX_NULS || end.some((byte) => byte !== 0)) {
				throw new MessageRejected(`contains a NUL byte`);
			}
			text = String.fromArrayBuffer(message.slice(0, nul));
		}
		return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
	}
	return text;
};

/**
 * Decodes the start of a message, up to a NUL byte, without trailing non-ASCII characters, of which one may be cut off.
 *
 * @returns an empty text if it is not UTF-8
 */
const startOf = (message: ArrayBuffer): string => {
	const bytes = new Uint8Array(message).slice(0, START_BYTES);
	const nul = bytes.indexOf(0);
	let end = nul < 0 ? bytes.byteLength : nul;
	while ((bytes[end - 1] ?? 0) > 127) {
		end -= 1;
	}
	try {
		return String.fromArrayBuffer(bytes.buffer.slice(0, end));
	} catch {
		return "";
	}
};
