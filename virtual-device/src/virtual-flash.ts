import { createHash, createPublicKey, createVerify, type KeyObject } from "node:crypto";
import { decodeImage } from "./virtual-image.js";

/** The largest image in bytes: an app partition of a chip with 8 MB of flash. */
const CAPACITY = 3_932_160;

/** The firmware that a bootloader starts. */
export interface Started {
	readonly script: string;
	/** Whether it was installed by an update and is not confirmed. */
	readonly isOnTrial: boolean;
}

/**
 * Two firmware slots and a bootloader, like ESP-IDF's: an installed image is started once, on trial. Unless it is
 * confirmed, the next start rolls back.
 */
export class VirtualFlash {
	readonly capacity = CAPACITY;
	#running: string;
	/** The previous firmware, as long as the running one is on trial. */
	#before: string | undefined;
	/** The image to start next, if one was installed. */
	#installed: string | undefined;
	#pieces: Buffer[] = [];

	constructor(script: string) {
		this.#running = script;
	}

	/** The bootloader's work at each start. */
	boot(): Started {
		if (this.#installed !== undefined) {
			this.#before = this.#running;
			this.#running = this.#installed;
			this.#installed = undefined;
			return { script: this.#running, isOnTrial: true };
		}
		this.#running = this.#before ?? this.#running;
		this.#before = undefined;
		return { script: this.#running, isOnTrial: false };
	}

	/** Overwrites both slots, as a cable does. */
	replace(script: string): void {
		this.#running = script;
		this.#before = undefined;
		this.#installed = undefined;
	}

	begin(): void {
		this.#pieces = [];
	}

	write(piece: Uint8Array): void {
		this.#pieces.push(Buffer.from(piece));
	}

	/** SHA-256 of what was written. */
	digest(): Buffer {
		return createHash("sha256").update(Buffer.concat(this.#pieces)).digest();
	}

	/**
	 * Whether the image is signed as this version: ECDSA over P-256 and SHA-256, of the image's digest and the version.
	 *
	 * @param key an uncompressed point
	 * @param signature r and s
	 */
	isSigned(key: Uint8Array, signature: Uint8Array, version: Uint8Array): boolean {
		const verifier = createVerify("sha256").update(this.digest()).update(version);
		return verifier.verify({ key: publicKey(key), dsaEncoding: "ieee-p1363" }, signature);
	}

	/** Makes the image start next. @throws Error if it is incomplete */
	finish(): void {
		const image = Buffer.concat(this.#pieces);
		this.#pieces = [];
		this.#installed = decodeImage(image);
	}

	cancel(): void {
		this.#pieces = [];
	}

	/** Confirms the running firmware. */
	confirm(): void {
		this.#before = undefined;
	}
}

function publicKey(point: Uint8Array): KeyObject {
	const coordinate = (from: number, to: number): string => Buffer.from(point.subarray(from, to)).toString("base64url");
	const key = { kty: "EC", crv: "P-256", x: coordinate(1, 33), y: coordinate(33, 65) };
	return createPublicKey({ key, format: "jwk" });
}
