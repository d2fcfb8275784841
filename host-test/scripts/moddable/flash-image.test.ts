import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { appOffset, makeFlashImage, storeSettings } from "../../../scripts/moddable/flash-image.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** An entry of a partition table. */
function entry(type: number, offset: number): Buffer {
	const bytes = Buffer.alloc(32);
	bytes.writeUInt16LE(0x50aa);
	bytes.writeUInt8(type, 2);
	bytes.writeUInt32LE(offset, 4);
	return bytes;
}

it("a flash image has the firmware in its first app partition", (_t) => {
	const folder = temporaryFolder("flash-image-");
	const table = Buffer.concat([entry(1, 0x9000), entry(0, 0x20000), entry(0, 0x120000), Buffer.alloc(32, 0xff)]);
	writeFileSync(join(folder, "partition-table.bin"), table);
	writeFileSync(join(folder, "bootloader.bin"), "bootloader");
	writeFileSync(join(folder, "xs_esp32.bin"), "firmware");
	const image = makeFlashImage(folder, 0x1000);
	assert.equal(image.length, 4 * 1024 * 1024);
	assert.equal(image[0], 0xff);
	assert.equal(image.toString("latin1", 0x1000, 0x100a), "bootloader");
	assert.deepEqual(image.subarray(0x8000, 0x8000 + table.length), table);
	assert.equal(image.toString("latin1", 0x20000, 0x20008), "firmware");
	assert.equal(image[0x120000], 0xff);
});

it("a partition table without an app partition is an error", () => {
	assert.throws(() => appOffset(Buffer.concat([entry(1, 0x9000), Buffer.alloc(32, 0xff)])), /no app partition/);
});

it("a flash image stores settings as ESP-IDF does, each text with its length and checksum", () => {
	const flash = Buffer.alloc(0x10000, 0xff);
	const nvs = entry(1, 0x9000);
	nvs.writeUInt8(2, 3);
	nvs.copy(flash, 0x8000);
	const page = storeSettings(flash, { ssid: "home" }).subarray(0x9000, 0xa000);
	const of = (at: number): Buffer => page.subarray(64 + at * 32, 96 + at * 32);
	assert.deepEqual(of(0).subarray(0, 4), Buffer.of(0, 0x01, 1, 0xff));
	assert.equal(of(0).toString("latin1", 8, 15), "xs-mcp\0");
	assert.equal(of(0)[24], 1);
	assert.deepEqual(of(1).subarray(0, 4), Buffer.of(1, 0x21, 2, 0xff));
	assert.equal(of(1).toString("latin1", 8, 13), "ssid\0");
	assert.equal(of(1).readUInt16LE(24), 5);
	assert.equal(of(2).toString("latin1", 0, 5), "home\0");
	assert.equal(page[32], 0b1110_1010, "three entries are in use");
	assert.throws(() => storeSettings(flash, { ssid: "x".repeat(4_000) }), /the settings need 128 entries/);
});
