import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Bytes of the flash of the emulated chip. */
const FLASH_SIZE = 4 * 1024 * 1024;

/** Offsets of the ESP32-C3's bootloader, and of the partition table. */
const BOOTLOADER = 0;
const PARTITION_TABLE = 0x8000;

/** An entry of a partition table: its length, magic number, and the positions of type and offset. */
const ENTRY = { length: 32, magic: 0x50aa, type: 2, offset: 4 };

/** The type of a partition that holds a program. */
const APP = 0;

/**
 * The content of an ESP32-C3's flash with a firmware in its first app partition.
 *
 * @param folder where mcconfig has put the files of a build
 * @throws RangeError if the partition table has no app partition
 */
export function makeFlashImage(folder: string): Buffer {
	const table = readFileSync(join(folder, "partition-table.bin"));
	const image = Buffer.alloc(FLASH_SIZE, 0xff);
	readFileSync(join(folder, "bootloader.bin")).copy(image, BOOTLOADER);
	table.copy(image, PARTITION_TABLE);
	readFileSync(join(folder, "xs_esp32.bin")).copy(image, appOffset(table));
	return image;
}

/** Where the first app partition begins, in bytes. */
export function appOffset(table: Buffer): number {
	for (let at = 0; at + ENTRY.length <= table.length && table.readUInt16LE(at) === ENTRY.magic; at += ENTRY.length) {
		if (table.readUInt8(at + ENTRY.type) === APP) {
			return table.readUInt32LE(at + ENTRY.offset);
		}
	}
	throw new RangeError("the partition table has no app partition");
}
