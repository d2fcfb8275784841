/** What an image begins with: src/boards/virtual/updater.ts looks at it. Then comes the script's length in 4 bytes. */
const MAGIC = Buffer.from("XSMCPVD1");
const HEADER_BYTES = MAGIC.byteLength + 4;

/** Makes a firmware image for virtual devices from a bundled script. */
export function encodeImage(script: string): Buffer {
	const body = Buffer.from(script);
	const length = Buffer.alloc(4);
	length.writeUInt32LE(body.byteLength);
	return Buffer.concat([MAGIC, length, body]);
}

/**
 * The script of an image.
 *
 * @throws Error if it is no image, or not a whole one
 */
export function decodeImage(image: Buffer): string {
	if (image.byteLength < HEADER_BYTES || !image.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
		throw new Error("not a firmware image of a virtual device");
	}
	const length = image.readUInt32LE(MAGIC.byteLength);
	if (image.byteLength !== HEADER_BYTES + length) {
		throw new Error(`image of ${image.byteLength} bytes, but its header says ${HEADER_BYTES + length}`);
	}
	return image.toString("utf8", HEADER_BYTES);
}
