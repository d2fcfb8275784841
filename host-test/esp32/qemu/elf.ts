/** Where the section headers' table, its entries' size and number, and its names' index stand in an ELF header of 32 bits. */
const HEADER = { offset: 0x20, size: 0x2e, count: 0x30, names: 0x32 };

/** Where a section header of 32 bits has its name, flags and size. */
const SECTION = { name: 0x00, flags: 0x08, start: 0x10, size: 0x14 };

/** SHF_ALLOC: the section lies in memory when the program runs. */
const IN_MEMORY = 2;

/** By these ESP-IDF keeps addresses free that another section's memory has, too. */
const PLACEHOLDER = /dummy$/;

/**
 * The sections of a program that lie in a chip's memory, and their sizes in bytes.
 *
 * @param file an ELF file of 32 bits, little-endian
 * @throws RangeError if it is not such a file
 */
export function sectionsOf(file: Buffer): ReadonlyMap<string, number> {
	if (file.toString("latin1", 0, 6) !== "\x7fELF\x01\x01") {
		throw new RangeError("not a 32-bit little-endian ELF file");
	}
	const table = file.readUInt32LE(HEADER.offset);
	const entry = (index: number): Buffer => file.subarray(table + index * file.readUInt16LE(HEADER.size));
	const names = file.subarray(entry(file.readUInt16LE(HEADER.names)).readUInt32LE(SECTION.start));
	const sections = new Map<string, number>();
	for (let index = 0; index < file.readUInt16LE(HEADER.count); index += 1) {
		const section = entry(index);
		const size = section.readUInt32LE(SECTION.size);
		if ((section.readUInt32LE(SECTION.flags) & IN_MEMORY) !== 0 && size > 0) {
			const start = section.readUInt32LE(SECTION.name);
			const name = names.toString("latin1", start, names.indexOf(0, start));
			if (!PLACEHOLDER.test(name)) {
				sections.set(name, size);
			}
		}
	}
	return sections;
}
