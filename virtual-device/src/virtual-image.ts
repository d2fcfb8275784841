import { createHash } from "node:crypto";
import {
	IDENTITY_BYTES,
	IDENTITY_MAGIC,
	IDENTITY_TEXT_BYTES,
	type ImageIdentity,
} from "../../src/drivers/updater/image-identity.js";
import { FIRMWARE } from "../../src/settings/firmware.js";

/**
 * The first bytes of an image, which src/boards/virtual/updater.ts checks. Then come the script's length in 4 bytes, the
 * identity as in a chip's image (src/platform/firmware.c), the script, and the SHA-256 of all that.
 */
const MAGIC = Buffer.from("XSMCPVD2");
const HEADER_BYTES = MAGIC.byteLength + 4 + IDENTITY_BYTES;
const CHECKSUM_BYTES = 32;

function checksumOf(bytes: Buffer): Buffer {
	return createHash("sha256").update(bytes).digest();
}

/** Makes a firmware image for virtual devices from a bundled script, which reports this project and version. */
export function encodeImage(script: string, { name, version, board }: ImageIdentity = FIRMWARE): Buffer {
	const body = Buffer.from(script);
	const length = Buffer.alloc(4);
	length.writeUInt32LE(body.byteLength);
	const texts = [name, version, board].map((text) => Buffer.from(text.padEnd(IDENTITY_TEXT_BYTES, "\0")));
	const image = Buffer.concat([MAGIC, length, Buffer.from(IDENTITY_MAGIC), ...texts, body]);
	return Buffer.concat([image, checksumOf(image)]);
}

/**
 * The script of an image.
 *
 * @throws Error if it is not an image, or incomplete or damaged
 */
export function decodeImage(image: Buffer): string {
	if (image.byteLength < HEADER_BYTES || !image.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
		throw new Error("not a firmware image of a virtual device");
	}
	const length = image.readUInt32LE(MAGIC.byteLength);
	const end = HEADER_BYTES + length;
	if (image.byteLength !== end + CHECKSUM_BYTES) {
		throw new Error(`image of ${image.byteLength} bytes, but its header says ${end + CHECKSUM_BYTES}`);
	}
	if (!checksumOf(image.subarray(0, end)).equals(image.subarray(end))) {
		throw new Error("image damaged: its checksum is wrong");
	}
	return image.toString("utf8", HEADER_BYTES, end);
}
