import { createHash, createPublicKey, createVerify, type KeyObject } from "node:crypto";
import { FIRMWARE } from "../../../src/core/firmware.js";
import {
	IDENTITY_BYTES,
	IDENTITY_MAGIC,
	IDENTITY_TEXT_BYTES,
	type ImageIdentity,
} from "../../../src/hardware/drivers/image-identity.js";

/** The largest image in bytes: an app partition of a chip with 8 MB of flash. */
const CAPACITY = 3_932_160;

/** The firmware that a bootloader starts. */
export interface Started {
	readonly script: string;
	/** Whether it was installed by an update and is not confirmed. */
	readonly isOnTrial: boolean;
}

/** The flash of a virtual device. */
export type VirtualFlash = ReturnType<typeof makeFlash>;

/**
 * Makes two firmware slots and a bootloader, like ESP-IDF's: an installed image is started once, on trial. Unless it is
 * confirmed, the next start rolls back.
 */
export function makeFlash(running: string) {
	/** The previous firmware, as long as the running one is on trial. */
	let before: string | undefined;
	/** The image to start next, if one was installed. */
	let installed: string | undefined;
	let pieces: Buffer[] = [];

	/** SHA-256 of what was written. */
	const digest = (): Buffer => createHash("sha256").update(Buffer.concat(pieces)).digest();
	return {
		capacity: CAPACITY,
		/** The bootloader's work at each start. */
		boot(): Started {
			if (installed !== undefined) {
				before = running;
				running = installed;
				installed = undefined;
				return { script: running, isOnTrial: true };
			}
			running = before ?? running;
			before = undefined;
			return { script: running, isOnTrial: false };
		},
		/** Overwrites both slots, as a cable does. */
		replace(script: string): void {
			running = script;
			before = undefined;
			installed = undefined;
		},
		begin(): void {
			pieces = [];
		},
		write(piece: Uint8Array): void {
			pieces.push(Buffer.from(piece));
		},
		digest,
		/**
		 * Whether the image is signed as this version: ECDSA over P-256 and SHA-256, of the image's digest and the version.
		 *
		 * @param key an uncompressed point
		 * @param signature r and s
		 */
		isSigned(key: Uint8Array, signature: Uint8Array, version: Uint8Array): boolean {
			const verifier = createVerify("sha256").update(digest()).update(version);
			return verifier.verify({ key: publicKey(key), dsaEncoding: "ieee-p1363" }, signature);
		},
		/** Makes the image start next. @throws Error if it is incomplete */
		finish(): void {
			const image = Buffer.concat(pieces);
			pieces = [];
			installed = decodeImage(image);
		},
		cancel(): void {
			pieces = [];
		},
		/** Confirms the running firmware. */
		confirm(): void {
			before = undefined;
		},
	};
}

function publicKey(point: Uint8Array): KeyObject {
	const coordinate = (from: number, to: number): string => Buffer.from(point.subarray(from, to)).toString("base64url");
	const key = { kty: "EC", crv: "P-256", x: coordinate(1, 33), y: coordinate(33, 65) };
	return createPublicKey({ key, format: "jwk" });
}

/**
 * The first bytes of an image, which src/hardware/boards/virtual/updater.ts checks. Then come the script's length in 4 bytes, the
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
function decodeImage(image: Buffer): string {
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
