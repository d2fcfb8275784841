import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const PLATFORM = fileURLToPath(new URL("../../src/platform/", import.meta.url));

/** Bytes. ESP-IDF: app partitions start at multiples of 64 KB, others at multiples of 4 KB; the first 0x9000 are the bootloader's. */
const APP_ALIGNMENT = 0x10000;
const ALIGNMENT = 0x1000;
const FIRST = 0x9000;

function readTable(megabytes: number) {
	return readFileSync(`${PLATFORM}partitions/${megabytes}mb.csv`, "utf8")
		.split("\n")
		.filter((line) => line !== "" && !line.startsWith("#"))
		.map((line) => {
			const [name = "", type = "", subtype = "", offset, size] = line.split(",").map((cell) => cell.trim());
			return { name, type, subtype, offset: Number(offset), size: Number(size) };
		});
}

for (const megabytes of [4, 8, 16]) {
	it(`the partitions for ${megabytes} MB of flash fit, and have two places for firmware of the same size`, () => {
		const table = readTable(megabytes);
		let end = FIRST;
		for (const { name, type, offset, size } of table) {
			assert.equal(offset % (type === "app" ? APP_ALIGNMENT : ALIGNMENT), 0, name);
			assert.ok(offset >= end && size > 0, `${name} begins before the one ahead of it ends`);
			end = offset + size;
		}
		assert.ok(end <= megabytes * 0x100000, `the table ends at ${end}`);
		const [first, second] = table.filter(({ type }) => type === "app");
		assert.equal(first?.size, second?.size);
		const kinds = table.map(({ type, subtype, size }) => `${type} ${subtype} ${type === "app" ? "" : size}`.trim());
		assert.deepEqual(kinds, [
			"data nvs 16384",
			"data ota 8192",
			"data phy 4096",
			"app ota_0",
			"app ota_1",
			megabytes === 4 ? "0x40 1 65536" : "0x40 1 262144",
		]);
	});
}
