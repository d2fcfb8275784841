import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { appOffset, makeFlashImage } from "../../../scripts/moddable/flash-image.js";

/** An entry of a partition table. */
function entry(type: number, offset: number): Buffer {
	const bytes = Buffer.alloc(32);
	bytes.writeUInt16LE(0x50aa);
	bytes.writeUInt8(type, 2);
	bytes.writeUInt32LE(offset, 4);
	return bytes;
}

it("a flash image has the firmware in its first app partition", (t) => {
	const folder = mkdtempSync(join(tmpdir(), "flash-image-"));
	t.after(() => rmSync(folder, { recursive: true }));
	const table = Buffer.concat([entry(1, 0x9000), entry(0, 0x20000), entry(0, 0x120000), Buffer.alloc(32, 0xff)]);
	writeFileSync(join(folder, "partition-table.bin"), table);
	writeFileSync(join(folder, "bootloader.bin"), "bootloader");
	writeFileSync(join(folder, "xs_esp32.bin"), "firmware");
	const image = makeFlashImage(folder);
	assert.equal(image.length, 4 * 1024 * 1024);
	assert.equal(image.toString("latin1", 0, 10), "bootloader");
	assert.deepEqual(image.subarray(0x8000, 0x8000 + table.length), table);
	assert.equal(image.toString("latin1", 0x20000, 0x20008), "firmware");
	assert.equal(image[0x120000], 0xff);
});

it("a partition table without an app partition is an error", () => {
	assert.throws(() => appOffset(Buffer.concat([entry(1, 0x9000), Buffer.alloc(32, 0xff)])), /no app partition/);
});
