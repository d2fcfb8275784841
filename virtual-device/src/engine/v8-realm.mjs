/**
 * The globals of a script's realm on V8: `post`, `trace`, and the two functions by which XS turns strings into UTF-8
 * and back, as XS does. This function's source is evaluated inside that realm, so that its errors and buffers
 * are of the realm; it can refer to nothing outside itself.
 *
 * @param {{ post(header: string, bytes?: ArrayBuffer): void, trace(text: string): void }} host
 * @returns {(header: string, bytes?: Uint8Array) => void} hands one message to the script
 */
export function realm(host) {
	const byteLengthOf = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;

	function checkBuffer(value) {
		try {
			return byteLengthOf.call(value);
		} catch {
			throw new TypeError("argument is no ArrayBuffer instance");
		}
	}

	function define(object, name, value) {
		Object.defineProperty(object, name, { value, writable: true, configurable: true });
	}

	define(globalThis, "post", function post(header, bytes) {
		if (typeof header !== "string") {
			throw new TypeError("post: the header is no string");
		}
		if (bytes !== undefined) {
			checkBuffer(bytes);
		}
		host.post(header, bytes);
	});

	define(globalThis, "trace", function trace(...texts) {
		host.trace(texts.map(String).join(""));
	});

	// XS keeps strings as UTF-8 that ends with a zero byte: it writes U+0000 as C0 80, and unpaired surrogates as they are.
	define(ArrayBuffer, "fromString", function fromString(...values) {
		if (values.length < 1) {
			throw new TypeError("no argument");
		}
		const bytes = [];
		for (const character of String(values[0])) {
			const code = character.codePointAt(0);
			if (code > 0 && code < 0x80) {
				bytes.push(code);
			} else if (code < 0x800) {
				bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
			} else if (code < 0x10000) {
				bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
			} else {
				bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
			}
		}
		return new Uint8Array(bytes).buffer;
	});

	define(ArrayBuffer.prototype, "concat", function concat(...buffers) {
		const all = [this, ...buffers];
		const bytes = new Uint8Array(all.reduce((sum, buffer) => sum + checkBuffer(buffer), 0));
		let at = 0;
		for (const buffer of all) {
			bytes.set(new Uint8Array(buffer), at);
			at += buffer.byteLength;
		}
		return bytes.buffer;
	});

	function sizeOfSequence(first) {
		if (first < 0x80) {
			return 1;
		}
		if ((first & 0xe0) === 0xc0) {
			return 2;
		}
		if ((first & 0xf0) === 0xe0) {
			return 3;
		}
		if ((first & 0xf8) === 0xf0) {
			return 4;
		}
		return 0;
	}

	function readSequence(bytes, at, size) {
		let code = size === 1 ? bytes[at] : bytes[at] & (0x7f >> size);
		for (let i = 1; i < size; i++) {
			if ((bytes[at + i] & 0xc0) !== 0x80) {
				throw new TypeError("invalid UTF-8");
			}
			code = (code << 6) | (bytes[at + i] & 63);
		}
		if (code > 0x10ffff) {
			throw new TypeError("invalid UTF-8");
		}
		return code;
	}

	function decode(bytes) {
		let text = "";
		for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
			const size = sizeOfSequence(bytes[at]);
			if (size === 0 || at + size > bytes.length) {
				throw new TypeError("invalid UTF-8");
			}
			text += String.fromCodePoint(readSequence(bytes, at, size));
			at += size;
		}
		return text;
	}

	// Like XS: throws where bytes form no sequence, ends at a zero byte, lets overlong forms and surrogates pass.
	define(String, "fromArrayBuffer", function fromArrayBuffer(buffer, offset = 0, length = undefined) {
		const limit = checkBuffer(buffer);
		const start = Math.trunc(Number(offset)) || 0;
		if (start < 0 || start > limit) {
			throw new RangeError(`out of range byteOffset ${start}`);
		}
		const size = length === undefined ? limit - start : Math.trunc(Number(length)) || 0;
		if (size < 0 || start + size > limit) {
			throw new RangeError(`out of range byteLength ${size}`);
		}
		return decode(new Uint8Array(buffer, start, size));
	});

	for (const name of ["console", "Intl", "WebAssembly"]) {
		delete globalThis[name];
	}

	return function deliver(header, bytes) {
		if (typeof globalThis.onHostMessage !== "function") {
			throw new TypeError("globalThis.onHostMessage is no function");
		}
		let buffer;
		if (bytes) {
			buffer = new ArrayBuffer(bytes.length);
			new Uint8Array(buffer).set(bytes);
		}
		globalThis.onHostMessage(header, buffer);
	};
}
