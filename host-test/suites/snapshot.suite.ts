import { type ByteSource, readWhole } from "../../src/hardware/pictures.js";
import type { Canvas } from "../../src/pictures/face/brush.js";
import { type BandCanvas, FaceSnapshot } from "../../src/pictures/snapshot/face-snapshot.js";
import { equal, ok, suite } from "../harness.js";

const WIDTH = 16;

/** A canvas of a band, which only fills whole rows, and what was begun on it. */
class FakeBand implements BandCanvas {
	readonly width = WIDTH;
	readonly height = 16;
	readonly pixels = new Uint16Array(WIDTH * 16);
	readonly begun: number[][] = [];
	closed = 0;
	#shift = 0;
	#depth = 0;

	makeColor = (red: number): number => red;
	getTextWidth = (): number => 0;
	drawText(): void {}
	blendRectangle(): void {}

	begin(...area: number[]): void {
		this.begun.push(area);
		this.#depth = 0;
	}

	origin(_x?: number, y?: number): void {
		this.#shift = y ?? 0;
		this.#depth += y === undefined ? -1 : 1;
	}

	end(): void {
		equal(this.#depth, 0);
	}

	fillRectangle(color: number, _x: number, y: number, _width: number, height: number): void {
		for (let row = Math.max(0, y + this.#shift); row < Math.min(16, y + this.#shift + height); row += 1) {
			this.pixels.fill(color, row * WIDTH, (row + 1) * WIDTH);
		}
	}

	close(): void {
		this.closed += 1;
	}
}

/** A face of stripes: each 8 rows have a colour, which is the number of the stripe and of the change. */
function stripes(height: number) {
	let change = 0;
	const face = {
		width: WIDTH,
		height,
		isCovered: false,
		keep() {
			const now = change;
			return (canvas: Canvas): void => {
				canvas.begin();
				for (let y = 0; y < height; y += 8) {
					canvas.fillRectangle(now + y, 0, y, WIDTH, 8);
				}
				canvas.end();
				canvas.begin(0, 20, WIDTH, 4);
				canvas.fillRectangle(now + 1, 0, 20, WIDTH, 4);
				canvas.end();
			};
		},
	};
	const bands: FakeBand[] = [];
	const snapshot = new FaceSnapshot(face, () => {
		const canvas = new FakeBand();
		bands.push(canvas);
		return { canvas, pixels: canvas.pixels };
	});
	return {
		face,
		bands,
		snapshot,
		draw: () => {
			change += 100;
		},
	};
}

export default suite("snapshots of a face", {
	async "draw it once more, band by band, each part where it is"() {
		const { snapshot, bands } = stripes(40);
		const picture = await snapshot.take(80);
		const [band] = bands as [FakeBand];
		const all = [0, 0, WIDTH, 16];
		const part = [0, 4, WIDTH, 4];
		equal(band.begun, [all, all, part, [0, 0, WIDTH, 8]]);
		equal([band.pixels[0], band.pixels[8 * WIDTH - 1]], [32, 32]);
		picture.close();
		picture.close();
		equal(band.closed, 1);
	},
	async "show the face as it was, whatever it becomes while they are read"() {
		const { snapshot, draw } = stripes(32);
		const expected = await readWhole(await snapshot.take(80), 10_000);
		const later: ByteSource = await snapshot.take(80);
		draw();
		equal(await readWhole(later, 10_000), expected);
		ok((await snapshot.take(80)).byteLength > 0);
	},
	async "are rejected while a picture covers the face"() {
		const { snapshot, face, bands } = stripes(32);
		face.isCovered = true;
		const error: Error = await snapshot.take(80).then(
			() => new Error("taken"),
			(reason) => reason,
		);
		equal([error.message, bands.length], ["the screen shows a preview, which cannot be read back", 0]);
	},
});
