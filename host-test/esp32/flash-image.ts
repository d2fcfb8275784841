import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY_MAGIC, IDENTITY_TEXT_BYTES } from "../../src/hardware/drivers/image-identity.js";
import { makeNvsPage } from "./nvs-image.js";

const FLASH_SIZE = 4 * 1024 * 1024;

const PARTITION_TABLE = 0x8000;

/** An entry of a partition table: its length, magic number, and the positions of type, subtype and offset. */
const ENTRY = { length: 32, magic: 0x50aa, type: 2, subtype: 3, offset: 4 };

/** Types of partitions: a program, and the settings among the data. */
const APP = 0;
const DATA = 1;
const NVS = 2;

/** The type of the partition in which the SDK keeps a mod. */
const MOD = 0x40;

/** Position of the firmware's identity in an image: after the headers of the image and of its first segment, and ESP-IDF's description. */
const IDENTITY = 24 + 8 + 256;

/** Position of the texts of the identity in an image. */
export const IDENTITY_TEXT = {
	project: IDENTITY + IDENTITY_MAGIC.length,
	version: IDENTITY + IDENTITY_MAGIC.length + IDENTITY_TEXT_BYTES,
};

/** Bytes of the hash at the end of an image, after a byte that is all others of its segments by "exclusive or". */
const HASH_BYTES = 32;

/** Domain of the firmware's settings in flash: `DOMAIN` of src/core/read-setting.ts. */
const DOMAIN = "xs-mcp";

/** The content of a chip's flash with the firmware of a build, whose files mcconfig has put into this folder. */
export function makeFlashImage(folder: string, bootloader: number): Buffer {
	const table = readFileSync(join(folder, "partition-table.bin"));
	const image = Buffer.alloc(FLASH_SIZE, 0xff);
	readFileSync(join(folder, "bootloader.bin")).copy(image, bootloader);
	table.copy(image, PARTITION_TABLE);
	readFileSync(join(folder, "xs_esp32.bin")).copy(
		image,
		offsetOf(table, (type) => type === APP, "app partition"),
	);
	return image;
}

export function storeSettings(flash: Buffer, settings: Readonly<Record<string, string>>): Buffer {
	const at = offsetOf(
		flash.subarray(PARTITION_TABLE),
		(type, subtype) => type === DATA && subtype === NVS,
		"place for settings",
	);
	const stored = Buffer.from(flash);
	makeNvsPage(DOMAIN, settings).copy(stored, at);
	return stored;
}

/** The image of an update as another version: its checksum and hash follow. */
export function ofVersion(firmware: Buffer, version: string): Buffer {
	const image = Buffer.from(firmware);
	const end = image.length - HASH_BYTES;
	image.fill(0, IDENTITY_TEXT.version, IDENTITY_TEXT.version + IDENTITY_TEXT_BYTES);
	image.write(version, IDENTITY_TEXT.version, "latin1");
	let checksum = image.readUInt8(end - 1);
	for (let at = IDENTITY_TEXT.version; at < IDENTITY_TEXT.version + IDENTITY_TEXT_BYTES; at += 1) {
		checksum ^= firmware.readUInt8(at) ^ image.readUInt8(at);
	}
	image.writeUInt8(checksum, end - 1);
	createHash("sha256").update(image.subarray(0, end)).digest().copy(image, end);
	return image;
}

/** The same flash with a mod, as mcrun builds it. */
export function storeMod(flash: Buffer, archive: Buffer): Buffer {
	const at = offsetOf(flash.subarray(PARTITION_TABLE), (type) => type === MOD, "place for a mod");
	const stored = Buffer.from(flash);
	archive.copy(stored, at);
	return stored;
}

function offsetOf(table: Buffer, is: (type: number, subtype: number) => boolean, what: string): number {
	for (let at = 0; at + ENTRY.length <= table.length && table.readUInt16LE(at) === ENTRY.magic; at += ENTRY.length) {
		if (is(table.readUInt8(at + ENTRY.type), table.readUInt8(at + ENTRY.subtype))) {
			return table.readUInt32LE(at + ENTRY.offset);
		}
	}
	throw new RangeError(`the partition table has no ${what}`);
}
