export interface PngPixels {
	readonly width: number;
	readonly height: number;
	readonly depth?: number;
	/** Color type of PNG: 0 grey, 2 RGB, 3 palette, 4 grey and transparency, 6 RGB and transparency. */
	readonly color?: number;
	readonly interlaced?: boolean;
	readonly palette?: readonly number[];
	readonly rows: readonly (readonly number[])[];
}

const PIXEL_BYTES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** A PNG file. Its checksums are zeros: the firmware does not look at them. */
export function makePng(
	picture: PngPixels,
	compress: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
	idatBytes = 40,
): Uint8Array {
	const { width, height, depth = 8, color = 2, interlaced = false, palette } = picture;
	const data = compress(filtered(picture.rows, Math.ceil(((PIXEL_BYTES[color] as number) * depth) / 8)));
	const header = [...word(width), ...word(height), depth, color, 0, 0, interlaced ? 1 : 0];
	const file = [137, 80, 78, 71, 13, 10, 26, 10, ...chunk("IHDR", header), ...chunk("tEXt", [1, 2, 3])];
	if (palette !== undefined) {
		file.push(...chunk("PLTE", palette));
	}
	for (let at = 0; at < data.byteLength; at += idatBytes) {
		file.push(...chunk("IDAT", data.subarray(at, at + idatBytes)));
	}
	return Uint8Array.from([...file, ...chunk("IEND", [])]);
}

function filtered(rows: readonly (readonly number[])[], distance: number): Uint8Array {
	return Uint8Array.from(
		rows.flatMap((row, y) => {
			const filter = y % 5;
			const bytes = row.map((byte, x) => {
				const [left, up] = [row[x - distance] ?? 0, rows[y - 1]?.[x] ?? 0];
				const corner = x < distance ? 0 : (rows[y - 1]?.[x - distance] ?? 0);
				return byte - ([0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] as number);
			});
			return [filter, ...bytes];
		}),
	);
}

/** Paeth predictor (PNG §9.4). */
function paeth(a: number, b: number, c: number): number {
	const p = a + b - c;
	const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

function chunk(type: string, bytes: Iterable<number>): number[] {
	const body = [...bytes];
	return [...word(body.length), ...Array.from(type, (letter) => letter.charCodeAt(0)), ...body, 0, 0, 0, 0];
}

function word(value: number): number[] {
	return [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255];
}
