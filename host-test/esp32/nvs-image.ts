import { crc32 } from "node:zlib";

// The format of ESP-IDF's "Non-Volatile Storage", version 2: pages of a header, a map of the used entries, and entries.
const PAGE_SIZE = 4096;
const ENTRY_SIZE = 32;
const MAX_ENTRIES = 126;
const HEADER = { active: 0xffff_fffe, version: 0xfe, versionAt: 8, checkedFrom: 4, checkAt: 28 };
const MAP_AT = 32;
const ENTRIES_AT = 64;
const TYPE = { u8: 0x01, string: 0x21 };
const NO_CHUNK = 0xff;
const NAMESPACE_INDEX = 1;
const MAX_NAME_LENGTH = 15;

/** An entry has its checksum, over everything else in it, between the two parts that it covers. */
const CHECK = { at: 4, after: 8 };
const NAME_AT = 8;
const VALUE_AT = 24;

/** Initial value of ESP-IDF's checksums. */
const START = 0xffff_ffff;

/** The first page of a partition `nvs` with these texts, as the SDK's `preference` module stores them. */
export function makeNvsPage(domain: string, values: Readonly<Record<string, string>>): Buffer {
	const page = Buffer.alloc(PAGE_SIZE, 0xff);
	page.writeUInt32LE(HEADER.active, 0);
	page.writeUInt32LE(0, HEADER.checkedFrom);
	page.writeUInt8(HEADER.version, HEADER.versionAt);
	page.writeUInt32LE(crc32(page.subarray(HEADER.checkedFrom, HEADER.checkAt), START), HEADER.checkAt);
	const entries = [
		makeEntry({ namespace: 0, type: TYPE.u8, name: domain, value: Buffer.of(NAMESPACE_INDEX) }),
		...Object.entries(values).map(([name, value]) => makeText(name, value)),
	];
	const bytes = Buffer.concat(entries);
	const count = bytes.length / ENTRY_SIZE;
	if (count > MAX_ENTRIES) {
		throw new RangeError(`the settings need ${count} entries of a page (limit ${MAX_ENTRIES})`);
	}
	bytes.copy(page, ENTRIES_AT);
	for (let at = 0; at < count; at += 1) {
		const byte = MAP_AT + (at >> 2);
		page.writeUInt8(page.readUInt8(byte) & ~(1 << ((at & 3) * 2)), byte);
	}
	return page;
}

interface Entry {
	readonly namespace: number;
	readonly type: number;
	readonly name: string;
	/** Text of at most eight bytes. */
	readonly value: Buffer;
	/** Entries that it takes, itself included. Default: 1. */
	readonly span?: number;
}

function makeEntry({ namespace, type, name, value, span = 1 }: Entry): Buffer {
	if (name.length > MAX_NAME_LENGTH) {
		throw new RangeError(`${name}: expected at most ${MAX_NAME_LENGTH} characters`);
	}
	const entry = Buffer.alloc(ENTRY_SIZE, 0xff);
	Buffer.of(namespace, type, span, NO_CHUNK).copy(entry);
	entry.fill(0, NAME_AT, VALUE_AT).write(name, NAME_AT, "latin1");
	value.copy(entry, VALUE_AT);
	const covered = Buffer.concat([entry.subarray(0, CHECK.at), entry.subarray(CHECK.after)]);
	entry.writeUInt32LE(crc32(covered, START), CHECK.at);
	return entry;
}

/** A text: an entry with its length and checksum, and then its bytes, with a 0 at their end. */
function makeText(name: string, text: string): Buffer {
	const bytes = Buffer.from(`${text}\0`);
	const room = Math.ceil(bytes.length / ENTRY_SIZE);
	const value = Buffer.alloc(8, 0xff);
	value.writeUInt16LE(bytes.length, 0);
	value.writeUInt32LE(crc32(bytes, START), 4);
	const entry = makeEntry({ namespace: NAMESPACE_INDEX, type: TYPE.string, name, value, span: 1 + room });
	return Buffer.concat([entry, bytes, Buffer.alloc(room * ENTRY_SIZE - bytes.length, 0xff)]);
}
