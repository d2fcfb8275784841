import assert from "node:assert/strict";
import { it } from "node:test";
import { sectionsOf } from "../../../scripts/moddable/elf.js";

/** An ELF file with these sections and nothing in them. */
function makeElf(
	sections: readonly { readonly name: string; readonly flags: number; readonly size: number }[],
): Buffer {
	const names = `\0${sections.map(({ name }) => `${name}\0`).join("")}`;
	const file = Buffer.alloc(0x34 + names.length + (sections.length + 1) * 0x28);
	const table = 0x34 + names.length;
	file.write("\x7fELF\x01\x01", "latin1");
	file.writeUInt32LE(table, 0x20);
	file.writeUInt16LE(0x28, 0x2e);
	file.writeUInt16LE(sections.length + 1, 0x30);
	file.writeUInt16LE(sections.length, 0x32);
	file.write(names, 0x34, "latin1");
	sections.forEach(({ name, flags, size }, index) => {
		const at = table + index * 0x28;
		file.writeUInt32LE(names.indexOf(`\0${name}\0`) + 1, at);
		file.writeUInt32LE(flags, at + 0x08);
		file.writeUInt32LE(size, at + 0x14);
	});
	file.writeUInt32LE(0x34, table + sections.length * 0x28 + 0x10);
	return file;
}

it("the sections that lie in memory are found with their sizes, and placeholders and others are left out", () => {
	const sections = [
		{ name: ".text", flags: 6, size: 1_000 },
		{ name: ".debug", flags: 0, size: 50 },
		{ name: ".bss", flags: 3, size: 200 },
		{ name: ".empty", flags: 3, size: 0 },
		{ name: ".dram0.dummy", flags: 3, size: 500 },
	];
	assert.deepEqual(
		[...sectionsOf(makeElf(sections))],
		[
			[".text", 1_000],
			[".bss", 200],
		],
	);
});

it("a file that is no ELF file is an error", () => {
	assert.throws(() => sectionsOf(Buffer.from("#!/bin/sh")), /not a 32-bit little-endian ELF file/);
});
