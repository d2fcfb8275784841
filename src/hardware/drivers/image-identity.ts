import { FIRMWARE } from "../../core/firmware.js";
import { joinBytes } from "../../core/text/byte-reader.js";
import type { FirmwareSink, FirmwareSource } from "../updater.js";

/** Start of the identity in an image: src/platform/firmware.c. */
export const IDENTITY_MAGIC = "xs-mcp/1";

/** Bytes of each text after the magic: project, version, board. Padded with zeros. */
export const IDENTITY_TEXT_BYTES = 32;

/** Bytes of the identity. */
export const IDENTITY_BYTES = IDENTITY_MAGIC.length + 3 * IDENTITY_TEXT_BYTES;

/** Identity of a firmware image: the project, its version, and the board that it is built for. */
export type ImageIdentity = Readonly<Record<"name" | "version" | "board", string>>;

/**
 * Reads the identity of an image.
 *
 * @param at offset of the identity
 * @returns undefined if the image has none: it is not firmware of this kind
 */
export const readIdentity = (image: Uint8Array, at: number): ImageIdentity | undefined => {
	if (textAt(image, at, IDENTITY_MAGIC.length) !== IDENTITY_MAGIC) {
		return undefined;
	}
	const [name, version, board] = [0, 1, 2].map((index) =>
		textAt(image, at + IDENTITY_MAGIC.length + index * IDENTITY_TEXT_BYTES, IDENTITY_TEXT_BYTES),
	) as [string, string, string];
	return { name, version, board };
};

/**
 * Checks that an image is for this board, of this project, of the offered version, and not the running one.
 *
 * @param at offset of the identity in the image
 * @throws Error with the reason why it cannot be installed
 */
const checkIdentity = (image: Uint8Array, at: number, { anyProject, version }: Offer): void => {
	const found = readIdentity(image, at);
	const isOwn = found?.name === FIRMWARE.name;
	if (!isOwn && !anyProject) {
		const problem = found
			? `is firmware of the project ${JSON.stringify(found.name)}, not of`
			: "names no project, expected";
		throw new Error(
			`the image ${problem} ${JSON.stringify(FIRMWARE.name)}: only a person can allow that, by anyProject of self.upgrade_firmware`,
		);
	}
	if (found !== undefined && found.board !== FIRMWARE.board) {
		throw new Error(`the image is for the board ${found.board}, but this is ${FIRMWARE.board}`);
	}
	if (found !== undefined && version !== undefined && found.version !== version) {
		throw new Error(`the image is version ${found.version}, but was offered as ${JSON.stringify(version)}`);
	}
	if (isOwn && found.version === FIRMWARE.version) {
		throw new Error(`the image is version ${found.version}, which runs already`);
	}
};

type Offer = Pick<FirmwareSource, "anyProject" | "version">;

const textAt = (image: Uint8Array, at: number, bytes: number): string => {
	const field = image.subarray(at, at + bytes);
	const end = field.indexOf(0);
	return String.fromCharCode(...(end < 0 ? field : field.subarray(0, end)));
};

/**
 * Makes a sink hold back the first bytes of an image until they and its identity have arrived and are checked.
 *
 * @param at offset of the identity in the image
 * @param checkStart throws if the bytes before the identity are not those of such an image
 */
export const checkedSink = (
	at: number,
	source: Offer,
	checkStart: (image: Uint8Array) => void,
	sink: FirmwareSink,
): FirmwareSink => {
	let held: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(0);
	return {
		...sink,
		write(piece) {
			if (held === undefined) {
				sink.write(piece);
				return;
			}
			held = joinBytes(held, new Uint8Array(piece));
			if (held.byteLength >= at + IDENTITY_BYTES) {
				checkStart(held);
				checkIdentity(held, at, source);
				sink.write(held.buffer);
				held = undefined;
			}
		},
		async digest() {
			if (held !== undefined) {
				throw new Error(`image of ${held.byteLength} bytes is shorter than its header`);
			}
			return await sink.digest();
		},
	};
};
