// Globals of XS that Node lacks, for the firmware's modules on Node: its tools, and the suites.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

Object.assign(ArrayBuffer, { fromString: (text: string) => encoder.encode(text).buffer });
Object.assign(ArrayBuffer.prototype, {
	concat(this: ArrayBuffer, ...buffers: readonly ArrayBuffer[]): ArrayBuffer {
		return new Uint8Array(Buffer.concat([this, ...buffers].map((buffer) => new Uint8Array(buffer)))).buffer;
	},
});
Object.assign(String, { fromArrayBuffer: (bytes: ArrayBuffer) => decoder.decode(bytes).split("\0", 1)[0] });

/** XS takes a list of the wanted names where others take a reviver. */
type Reviver = (this: unknown, name: string, value: unknown) => unknown;
const { parse } = JSON;
Object.assign(JSON, {
	parse(text: string, names?: readonly string[] | Reviver): unknown {
		if (!Array.isArray(names)) {
			return parse(text, names as Reviver);
		}
		const isWanted = (holder: unknown, name: string): boolean =>
			Array.isArray(holder) || name === "" || names.includes(name);
		return parse(text, function (name, value) {
			return isWanted(this, name) ? value : undefined;
		});
	},
});
Object.assign(globalThis, { trace: () => {} });
