import { deepFreeze } from "../../text/deep-freeze.js";
import { fromHex } from "../../text/hex.js";

// The tables of a baseline JPEG, as hexadecimal digits: ITU-T T.81, annexes A and K. One set serves brightness and colours.

/** How a block's numbers are ordered: where each stands, row by row (figure A.6). */
const ZIGZAG =
	"000108100902030a11182019120b04050c131a21283029221b140d06070e151c232a313839322b241d160f171e252c333a3b342d261f272e353c3d362f373e3f";

/** The divisors at a quality of 50, row by row (table K.1). */
const DIVISORS =
	"100b0a101828333d0c0c0e131a3a3c370e0d1018283945380e11161d3357503e12162538446d674d182337405168715c31404e5767797865485c5f6270646763";

/** Huffman codes: how many there are of each length from 1 to 16, and what they stand for (tables K.3 and K.5). */
const DC_CODES = deepFreeze({ counts: "00010501010101010100000000000000", values: "000102030405060708090a0b" });
const AC_CODES = deepFreeze({
	counts: "0002010303020403050504040000017d",
	values:
		"01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a4344454647" +
		"48494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9ba" +
		"c2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa",
});

/** The factors by which the fast transform's results are too large, in each row and column. */
const SCALES = deepFreeze([1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.5411961, 0.275899379]);

/** The code of each value, and how many bits it has. */
export interface HuffmanCodes {
	readonly codes: Uint16Array;
	readonly lengths: Uint8Array;
}

/** The tables of an encoder, for one quality. */
export interface JpegTables {
	readonly zigzag: Uint8Array;
	/** The factors of a block's numbers, before they are rounded. */
	readonly factors: Float32Array;
	readonly dc: HuffmanCodes;
	readonly ac: HuffmanCodes;
	/** The header of a file. */
	readonly header: Uint8Array;
}

/** @param quality 1 to 100 */
export function makeTables(width: number, height: number, quality: number): JpegTables {
	const zigzag = bytesOf(ZIGZAG);
	const percent = quality < 50 ? 5_000 / quality : 200 - 2 * quality;
	const divisors = bytesOf(DIVISORS).map((each) => Math.min(255, Math.max(1, Math.floor((each * percent + 50) / 100))));
	const factors = new Float32Array(64);
	for (let at = 0; at < 64; at += 1) {
		const scale = (SCALES[at >> 3] as number) * (SCALES[at & 7] as number);
		factors[at] = 1 / ((divisors[at] as number) * scale * 8);
	}
	const header = makeHeader(
		width,
		height,
		zigzag.map((at) => divisors[at] as number),
	);
	return { zigzag, factors, dc: makeCodes(DC_CODES), ac: makeCodes(AC_CODES), header };
}

/** Annex C. */
function makeCodes({ counts, values }: typeof DC_CODES): HuffmanCodes {
	const codes = new Uint16Array(256);
	const lengths = new Uint8Array(256);
	const symbols = bytesOf(values);
	let code = 0;
	let at = 0;
	bytesOf(counts).forEach((count, index) => {
		for (let left = count; left > 0; left -= 1) {
			const symbol = symbols[at] as number;
			codes[symbol] = code;
			lengths[symbol] = index + 1;
			code += 1;
			at += 1;
		}
		code *= 2;
	});
	return { codes, lengths };
}

/** Annex B: brightness has twice the colours' resolution in both directions. */
function makeHeader(width: number, height: number, divisors: Uint8Array): Uint8Array {
	const word = (value: number): string => value.toString(16).padStart(4, "0");
	return bytesOf(
		[
			"ffd8 ffe0 0010 4a46494600 0101 00 0001 0001 00 00",
			"ffdb 0043 00",
			Array.from(divisors, (each) => word(each).slice(2)).join(""),
			`ffc0 0011 08 ${word(height)} ${word(width)} 03 01 22 00 02 11 00 03 11 00`,
			`ffc4 001f 00 ${DC_CODES.counts}${DC_CODES.values}`,
			`ffc4 00b5 10 ${AC_CODES.counts}${AC_CODES.values}`,
			"ffda 000c 03 01 00 02 00 03 00 00 3f 00",
		].join(""),
	);
}

/** @param digits hexadecimal, with spaces where they help the eye */
function bytesOf(digits: string): Uint8Array {
	return new Uint8Array(fromHex(digits.split(" ").join("")) as ArrayBuffer);
}
