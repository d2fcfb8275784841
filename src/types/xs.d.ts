// Globals of XS and Moddable beyond ECMAScript that the firmware uses. The Moddable SDK brings
// typings of its own; these let the project be checked without it.

interface ArrayBufferConstructor {
	/** The string as UTF-8. */
	fromString(text: string): ArrayBuffer;
}

interface ArrayBuffer {
	/** A copy with these buffers' bytes behind its own. */
	concat(...buffers: readonly ArrayBuffer[]): ArrayBuffer;
}

interface StringConstructor {
	/** The text that the bytes are as UTF-8. Throws on bytes that are not. */
	fromArrayBuffer(bytes: ArrayBuffer): string;
}

/** Writes to the debugger's console, without a line end. */
declare function trace(...text: unknown[]): void;
