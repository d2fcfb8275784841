const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;

/** A netstring: `<length>:<body>,`. */
export function encodeNetstring(...parts: readonly Uint8Array[]): Buffer {
	const length = parts.reduce((bytes, part) => bytes + part.byteLength, 0);
	return Buffer.concat([Buffer.from(`${length}:`), ...parts, Buffer.from(",")]);
}

/**
 * Reads one complete netstring from a buffer.
 *
 * @returns the body and the start of the next one; `undefined` if the netstring is incomplete
 * @throws SyntaxError if the bytes are not a netstring
 */
export function decodeNetstring(buffer: Buffer, start: number): { body: Buffer; end: number } | undefined {
	let length = 0;
	let at = start;
	for (; at < buffer.length && buffer[at] !== COLON; at += 1) {
		const digit = (buffer[at] as number) - ZERO;
		if (digit < 0 || digit > 9 || at - start > 9) {
			throw new SyntaxError("not a netstring: expected its length");
		}
		length = length * 10 + digit;
	}
	const end = at + 1 + length;
	if (end >= buffer.length) {
		return undefined;
	}
	if (buffer[end] !== COMMA) {
		throw new SyntaxError("not a netstring: expected its end");
	}
	return { body: buffer.subarray(at + 1, end), end: end + 1 };
}

/** Finds the netstrings in a stream, in pieces of any size. */
export class NetstringReader {
	#chunks: Buffer[] = [];
	#bytes = 0;
	/** Bytes needed before the next netstring can be complete: avoids parsing at each piece of a long one. */
	#needed = 0;

	/** @throws SyntaxError if the stream does not consist of netstrings */
	push(chunk: Buffer): Buffer[] {
		this.#chunks.push(chunk);
		this.#bytes += chunk.length;
		if (this.#bytes < this.#needed) {
			return [];
		}
		const buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
		const bodies: Buffer[] = [];
		let at = 0;
		let next = decodeNetstring(buffer, at);
		while (next !== undefined) {
			bodies.push(next.body);
			at = next.end;
			next = decodeNetstring(buffer, at);
		}
		this.#keep(buffer.subarray(at));
		return bodies;
	}

	#keep(rest: Buffer): void {
		this.#chunks = rest.length > 0 ? [rest] : [];
		this.#bytes = rest.length;
		const colon = rest.indexOf(COLON);
		this.#needed = colon < 0 ? 0 : colon + 1 + Number(rest.subarray(0, colon).toString()) + 1;
	}
}
