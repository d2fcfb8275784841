import { type Inflater, PngPicture } from "../../src/screen/png-picture.js";
import { FakePictureScreen } from "../doubles/fake-picture-screen.js";
import { makePng, type PngPixels } from "../doubles/made-png.js";
import { equal, suite, throws } from "../harness.js";

class FakeInflater implements Inflater {
	onData: (piece: ArrayBuffer) => void = () => {};
	onEnd: () => void = () => {};
	closed = false;

	push(piece: Uint8Array): void {
		this.onData(Uint8Array.from(piece).buffer);
	}

	close(): void {
		this.closed = true;
	}
}

function shown(file: Uint8Array, width: number, height: number, pieceBytes = file.byteLength): number[][] {
	const screen = new FakePictureScreen(width, height);
	const inflater = new FakeInflater();
	const picture = new PngPicture(screen, () => inflater);
	for (let at = 0; at < file.byteLength; at += pieceBytes) {
		picture.write(file.subarray(at, at + pieceBytes));
	}
	picture.end();
	picture.close();
	equal(inflater.closed, true);
	return screen.rows;
}

const pixel = (red: number, green: number, blue: number): number =>
	((red & 0xf8) << 8) | ((green & 0xfc) << 3) | (blue >> 3);

/** Red grows to the right, green downwards. */
const WIDTH = 7;
const HEIGHT = 11;
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const COLOURED: PngPixels = {
	width: WIDTH,
	height: HEIGHT,
	rows: range(HEIGHT).map((y) => range(WIDTH).flatMap((x) => [x * 36, y * 23, (x * y * 7) & 255])),
};
const EXPECTED = range(HEIGHT).map((y) => range(WIDTH).map((x) => pixel(x * 36, y * 23, (x * y * 7) & 255)));

export default suite("PNG pictures", {
	"are drawn row by row, whatever their filters, however they are cut"() {
		const file = makePng(COLOURED);
		for (const pieceBytes of [1, 3, 64, 10_000]) {
			equal(shown(file, WIDTH, HEIGHT, pieceBytes), EXPECTED, `${pieceBytes} bytes`);
		}
	},
	"may have a palette, greys, other depths and transparency"() {
		const one = (picture: Omit<PngPixels, "width" | "height">, width: number): number[] | undefined =>
			shown(makePng({ width, height: 1, ...picture }), width, 1)[0];
		const palette = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255];
		const [black, red, green, blue] = [0, pixel(255, 0, 0), pixel(0, 255, 0), pixel(0, 0, 255)];
		equal(one({ color: 3, depth: 2, palette, rows: [[0b00011011, 0b01000000]] }, 5), [black, red, green, blue, red]);
		equal(one({ color: 0, depth: 1, rows: [[0b10100000]] }, 3), [pixel(255, 255, 255), 0, pixel(255, 255, 255)]);
		equal(one({ color: 0, depth: 16, rows: [[128, 1, 255, 255]] }, 2), [pixel(128, 128, 128), pixel(255, 255, 255)]);
		equal(one({ color: 4, rows: [[200, 255, 200, 0]] }, 2), [pixel(200, 200, 200), 0]);
		equal(one({ color: 6, rows: [[255, 0, 0, 255, 255, 255, 255, 128]] }, 2), [red, pixel(128, 128, 128)]);
	},
	"are made smaller if they are larger than the screen"() {
		equal(shown(makePng(COLOURED), WIDTH, 5)[0]?.slice(2, 5), [EXPECTED[0]?.[0], EXPECTED[0]?.[2], EXPECTED[0]?.[4]]);
	},
	"are rejected if a second header comes between their pixels"() {
		const file = makePng(COLOURED);
		const second = makePng({ width: 1, height: HEIGHT, rows: [[1, 2, 3]] }).subarray(8);
		throws(() => shown(Uint8Array.from([...file.subarray(0, 100), ...second]), WIDTH, HEIGHT), /PNG damaged/);
	},
	"are rejected with the reason if they cannot be shown"() {
		const { width, height, rows } = COLOURED;
		const file = makePng(COLOURED);
		const damaged = (at: number): Uint8Array => Uint8Array.from(file, (byte, index) => (index === at ? 99 : byte));
		for (const [bytes, reason] of [
			[makePng({ ...COLOURED, interlaced: true }), /interlaced PNG/],
			[makePng({ width: 2_731, height, rows }), /PNG rows of 8193 bytes \(limit 8192\)/],
			[makePng({ width, height: 20_000, rows }), /PNG of 7 x 20000 pixels/],
			[makePng({ width, height: 0, rows }), /PNG of 7 x 0 pixels/],
			[makePng({ ...COLOURED, depth: 3 }), /PNG damaged/],
			[damaged(3), /neither a JPEG nor a PNG/],
			[damaged(8), /PNG damaged/],
			[damaged(12), /PNG damaged/],
			[file.subarray(0, 150), /PNG damaged or truncated/],
			[file.subarray(0, 20), /PNG damaged or truncated/],
		] as const) {
			throws(() => shown(bytes, WIDTH, HEIGHT, 13), reason);
		}
	},
});
