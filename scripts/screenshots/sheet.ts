import { PixelCanvas } from "../../virtual-device/src/services/pixel-canvas.js";

/** Pixels between screens. */
const GAP = 8;

/** Puts screens beside and below each other: a row for each list. */
export function makeSheet(rows: readonly (readonly PixelCanvas[])[]): PixelCanvas {
	const width = Math.max(...rows.map((row) => row.reduce((sum, screen) => sum + screen.width + GAP, GAP)));
	const heights = rows.map((row) => Math.max(...row.map(({ height }) => height)) + GAP);
	const sheet = new PixelCanvas(
		width,
		heights.reduce((sum, height) => sum + height, GAP),
	);
	sheet.fillRectangle(sheet.makeColor(128, 128, 128), 0, 0, sheet.width, sheet.height);
	let y = GAP;
	for (const [at, row] of rows.entries()) {
		let x = GAP;
		for (const screen of row) {
			copy(screen, sheet, x, y);
			x += screen.width + GAP;
		}
		y += heights[at] as number;
	}
	return sheet;
}

function copy(from: PixelCanvas, to: PixelCanvas, x: number, y: number): void {
	for (let row = 0; row < from.height; row += 1) {
		from.pixels.copy(to.pixels, ((y + row) * to.width + x) * 4, row * from.width * 4, (row + 1) * from.width * 4);
	}
}
