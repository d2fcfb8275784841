import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

/** Bytes of gzip's header, as Node writes it, and of its trailer: checksum and length (RFC 1952). */
const GZIP_HEADER = 10;
const GZIP_TRAILER = 8;

/** Names are UTF-8; deflated; 1980-01-01. */
const FLAGS = 0x0800;
const DEFLATED = 8;
const DATE = 0x0021;
const VERSION = 20;

/**
 * Makes a ZIP archive (PKWARE's APPNOTE, §4.3). Files are compressed beside the event loop.
 *
 * @param files by path
 */
export async function zip(files: Readonly<Record<string, Uint8Array>>): Promise<Buffer> {
	const parts: Buffer[] = [];
	const directory: Buffer[] = [];
	let offset = 0;
	for (const [path, body] of Object.entries(files)) {
		const zipped = await compress(body);
		const name = Buffer.from(path);
		const data = zipped.subarray(GZIP_HEADER, -GZIP_TRAILER);
		const about = describe(zipped.subarray(-GZIP_TRAILER), data.length, name.length);
		const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), about, name, data]);
		const place = Buffer.alloc(14);
		place.writeUInt32LE(offset, 10);
		directory.push(Buffer.from("PK\x01\x02", "latin1"), Buffer.from([VERSION, 0]), about, place, name);
		parts.push(local);
		offset += local.length;
	}
	const entries = Buffer.concat(directory);
	const end = Buffer.alloc(22);
	end.write("PK\x05\x06", "latin1");
	end.writeUInt16LE(parts.length, 8);
	end.writeUInt16LE(parts.length, 10);
	end.writeUInt32LE(entries.length, 12);
	end.writeUInt32LE(offset, 16);
	return Buffer.concat([...parts, entries, end]);
}

/** What the header of a file and its entry in the directory have in common. @param trailer gzip's */
function describe(trailer: Buffer, compressed: number, nameBytes: number): Buffer {
	const about = Buffer.alloc(26);
	about.writeUInt16LE(VERSION, 0);
	about.writeUInt16LE(FLAGS, 2);
	about.writeUInt16LE(DEFLATED, 4);
	about.writeUInt16LE(DATE, 8);
	trailer.copy(about, 10, 0, 4);
	about.writeUInt32LE(compressed, 14);
	trailer.copy(about, 18, 4, 8);
	about.writeUInt16LE(nameBytes, 22);
	return about;
}
