/** A font of the canvas. */
export interface Font {
	/** Pixels from line to line. */
	readonly height: number;
}

/** What is drawn on: Moddable's Poco, as far as it is used. Lengths are whole pixels, colours what `makeColor` made. */
export interface Canvas {
	readonly width: number;
	readonly height: number;
	makeColor(red: number, green: number, blue: number): number;
	/** Begins a drawing of the whole canvas, or of a part of it. */
	begin(x?: number, y?: number, width?: number, height?: number): void;
	end(): void;
	fillRectangle(color: number, x: number, y: number, width: number, height: number): void;
	/** @param blend from 0, which draws nothing, to 255 */
	blendRectangle(color: number, blend: number, x: number, y: number, width: number, height: number): void;
	drawText(text: string, font: Font, color: number, x: number, y: number, width?: number): void;
	getTextWidth(text: string, font: Font): number;
}
