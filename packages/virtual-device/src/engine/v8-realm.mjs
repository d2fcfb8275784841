/**
 * The globals of a script's realm on V8: `post`, `trace`, and the two functions by which XS turns strings into UTF-8
 * and back, as XS does. This function's source is evaluated inside that realm, so that its errors and buffers
 * are of the realm; it can refer to nothing outside itself.
 *
 * @param {{
 *   post(header: string, bytes?: ArrayBuffer): void,
 *   trace(text: string): void,
 *   encode(text: string): Uint8Array,
 *   decode(bytes: Uint8Array): string,
 * }} host
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

	function copied(bytes) {
		const buffer = new ArrayBuffer(bytes.length);
		new Uint8Array(buffer).set(bytes);
		return buffer;
	}

	define(ArrayBuffer, "fromString", function fromString(...values) {
		if (values.length < 1) {
			throw new TypeError("no argument");
		}
		return copied(host.encode(String(values[0])));
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

	// XS throws an error of the script's realm, and stops at a zero byte.
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
		try {
			return host.decode(new Uint8Array(buffer, start, size));
		} catch {
			throw new TypeError("invalid UTF-8");
		}
	});

	for (const name of ["console", "Intl", "WebAssembly"]) {
		delete globalThis[name];
	}

	return function deliver(header, bytes) {
		if (typeof globalThis.onHostMessage !== "function") {
			throw new TypeError("globalThis.onHostMessage is no function");
		}
		globalThis.onHostMessage(header, bytes && copied(bytes));
	};
}
