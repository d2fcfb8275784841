import { inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { BLANK_FACE, type Face, type Theme, type TimerModule } from "xs-mcp-firmware/hardware/hardware";
import type { Canvas, Font, Rectangle } from "xs-mcp-firmware/screen/brush";
import { FaceScreen } from "xs-mcp-firmware/screen/face-screen";
import type { PictureScreen } from "xs-mcp-firmware/screen/fitted-picture";
import { JpegHeader } from "xs-mcp-firmware/screen/jpeg-header";
import { type Inflater, PngPicture } from "xs-mcp-firmware/screen/png-picture";
import { type GlyphSet, type ReadFont, readBmFont } from "./bm-font.js";

/** Bytes of a pixel: red, green, blue, and nothing transparent. */
const PIXEL_BYTES = 4;

interface Clip {
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

/** The firmware's canvas, instead of the SDK's Poco: fonts are {@link ReadFont}s. */
export class PixelCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	/** RGBA, row by row. */
	readonly pixels: Buffer;
	readonly #onDrawn: ((part: Rectangle) => void) | undefined;
	#clip: Clip;

	/** @param onDrawn called with each part that was drawn */
	constructor(width: number, height: number, onDrawn?: (part: Rectangle) => void) {
		this.#onDrawn = onDrawn;
		this.width = width;
		this.height = height;
		this.pixels = Buffer.alloc(width * height * PIXEL_BYTES, 0xff);
		this.#clip = this.#whole();
	}

	makeColor(red: number, green: number, blue: number): number {
		return ((red << 24) | (green << 16) | (blue << 8) | 0xff) >>> 0;
	}

	/** Clips drawing to this part. */
	begin(x = 0, y = 0, width = this.width, height = this.height): void {
		const [right, bottom] = [Math.min(this.width, x + width), Math.min(this.height, y + height)];
		this.#clip = { left: Math.max(0, x), top: Math.max(0, y), right, bottom };
	}

	end(): void {
		const { left, top, right, bottom } = this.#clip;
		this.#onDrawn?.({ x: left, y: top, width: right - left, height: bottom - top });
		this.#clip = this.#whole();
	}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		this.#each(x, y, width, height, (at) => {
			this.pixels.writeUInt32BE(color, at);
		});
	}

	blendRectangle(color: number, blend: number, x: number, y: number, width: number, height: number): void {
		this.#each(x, y, width, height, (at) => {
			for (let byte = 0; byte < PIXEL_BYTES - 1; byte += 1) {
				const over = (color >>> (8 * (PIXEL_BYTES - 1 - byte))) & 0xff;
				const under = this.pixels[at + byte] ?? 0;
				this.pixels[at + byte] = Math.round(under + ((over - under) * blend) / 255);
			}
		});
	}

	#whole(): Clip {
		return { left: 0, top: 0, right: this.width, bottom: this.height };
	}

	#each(x: number, y: number, width: number, height: number, draw: (at: number) => void): void {
		const { left, top, right, bottom } = this.#clip;
		for (let row = Math.max(top, y); row < Math.min(bottom, y + height); row += 1) {
			for (let column = Math.max(left, x); column < Math.min(right, x + width); column += 1) {
				draw((row * this.width + column) * PIXEL_BYTES);
			}
		}
	}

	/** Draws like Poco: a text that is wider than it may be ends with an ellipsis, and a character without a glyph is skipped. */
	drawText(text: string, font: Font, color: number, x: number, y: number, width = Number.POSITIVE_INFINITY): void {
		let pen = x;
		for (const character of shorten(text, width, (each) => this.getTextWidth(each, font))) {
			const glyph = (font as ReadFont).glyphs.get(character);
			for (const [row, columns] of (glyph?.rows ?? []).entries()) {
				for (const [column, isSet] of columns.entries()) {
					if (isSet) {
						this.fillRectangle(color, pen + (glyph?.left ?? 0) + column, y + (glyph?.top ?? 0) + row, 1, 1);
					}
				}
			}
			pen += glyph?.advance ?? 0;
		}
	}

	getTextWidth(text: string, font: Font): number {
		let width = 0;
		for (const character of text) {
			width += (font as ReadFont).glyphs.get(character)?.advance ?? 0;
		}
		return width;
	}
}

function shorten(text: string, width: number, measure: (text: string) => number): string {
	if (measure(text) <= width) {
		return text;
	}
	const characters = [...text];
	while (characters.length > 0 && measure(`${characters.join("")}…`) > width) {
		characters.pop();
	}
	return `${characters.join("")}…`;
}

/** The content of a screen: its face and its settings. */
export interface DrawnScreen extends Partial<Face> {
	/** Pixels. */
	readonly width: number;
	readonly height: number;
	/** Percent. */
	readonly brightness: number;
	readonly theme: Theme;
}

/** Timers that never fire: a picture shows one moment. */
const NO_TIMER = { set: () => ({}), repeat: () => ({}), clear: () => {} };

const TIMER: TimerModule = {
	set: (callback, delay) => setTimeout(callback, delay),
	repeat: (callback, interval) => setInterval(callback, interval),
	clear: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
};

const fonts = new Map<string, ReadFont>();

/** Draws a face as the firmware does on boards: with its code and fonts, the first page of its words. */
export function drawFaceOf(screen: DrawnScreen, glyphs?: GlyphSet): PixelCanvas {
	const { width, height, brightness, theme, ...face } = screen;
	const canvas = new PixelCanvas(width, height);
	const drawn = openFace(canvas, NO_TIMER, glyphs);
	drawn.brightness = brightness;
	drawn.theme = theme;
	drawn.show({ ...BLANK_FACE, ...face });
	drawn.draw();
	return canvas;
}

/** A screen that moves. */
export type LiveScreen = ReturnType<typeof openLiveScreen>;

/**
 * Opens a screen that moves: the firmware's own face, drawn with its code and its fonts by Node's timers.
 *
 * @param onDrawn called with each part that has changed
 */
export function openLiveScreen(width: number, height: number, onDrawn: (area: Rectangle) => void) {
	const canvas = new PixelCanvas(width, height, onDrawn);
	const screen = openFace(canvas, TIMER);
	return {
		whole: { x: 0, y: 0, width, height },
		/**
		 * Mirrors the device's screen.
		 *
		 * @param changed the members of the face that the firmware has just shown: only these can wake the face
		 */
		show(picture: DrawnScreen, changed: readonly string[] = Object.keys(BLANK_FACE)): void {
			screen.brightness = picture.brightness;
			screen.theme = picture.theme;
			const face = picture as unknown as Readonly<Record<string, unknown>>;
			screen.show(Object.fromEntries(changed.map((name) => [name, face[name]])) as Partial<Face>);
		},
		/** The pixels of a part: RGBA, row by row. */
		read(area: Rectangle): Buffer {
			const rows = Array.from({ length: area.height }, (_, row) => {
				const at = ((area.y + row) * width + area.x) * 4;
				return canvas.pixels.subarray(at, at + area.width * 4);
			});
			return Buffer.concat(rows);
		},
		close: () => screen.close(),
	};
}

function openFace(canvas: PixelCanvas, timer: TimerModule, glyphs: GlyphSet = "cjk"): FaceScreen {
	return new FaceScreen({ canvas, font: fontOf(`glyphs-${glyphs}`), codeFont: fontOf("codes"), timer });
}

/**
 * Reads a font of the firmware once.
 *
 * @internal exported for a test
 */
export function fontOf(name: string): ReadFont {
	const known = fonts.get(name) ?? readBmFont(name);
	fonts.set(name, known);
	return known;
}

/** The content of the simulated screen. */
export type ScreenPicture = DrawnScreen & Face;

const END_OF_IMAGE = Uint8Array.of(0xff, 0xd9);

/** The simulated screen, as JPEG: what the firmware draws on a board's. */
export function drawScreen({ quality, ...screen }: ScreenPicture & { readonly quality: number }): Uint8Array {
	const { pixels, width, height } = drawFaceOf(screen);
	return jpeg.encode({ data: pixels, width, height }, quality).data;
}

/** A screen for pictures that only have to be decoded. */
const NO_SCREEN: PictureScreen = {
	canvas: Object.assign(new PixelCanvas(1, 1), { drawBitmap: () => {} }),
	rotation: 0,
	makeBitmap: () => ({}),
};

/**
 * The size of a picture, in pixels. It is checked by the code that runs on boards, so that a picture which they reject is
 * rejected here with the same words.
 *
 * @throws Error that says why a board does not show the picture
 */
export function measurePicture(bytes: Uint8Array): { readonly width: number; readonly height: number } {
	switch (bytes[0]) {
		case undefined:
			throw new Error("the file is empty");
		case 0xff:
			return measureJpeg(bytes);
		case 0x89:
			return measurePng(bytes);
		default:
			throw new Error("the file is neither a JPEG nor a PNG");
	}
}

function measureJpeg(bytes: Uint8Array): { readonly width: number; readonly height: number } {
	const header = new JpegHeader();
	if (header.take(bytes) === undefined || header.frame === undefined) {
		throw new Error("JPEG truncated within its header");
	}
	try {
		// Some cameras leave out the marker at the end. Boards do not need it.
		jpeg.decode(Buffer.concat([bytes, END_OF_IMAGE]), { tolerantDecoding: false, formatAsRGBA: false });
	} catch {
		throw new Error("JPEG damaged or truncated");
	}
	return header.frame;
}

function measurePng(bytes: Uint8Array): { readonly width: number; readonly height: number } {
	const pieces: Uint8Array[] = [];
	const inflater: Inflater = {
		onData: () => {},
		onEnd: () => {},
		push: (piece) => pieces.push(piece),
		close: () => {},
	};
	const picture = new PngPicture(NO_SCREEN, () => inflater);
	picture.write(bytes);
	try {
		inflater.onData(Uint8Array.from(inflateSync(Buffer.concat(pieces))).buffer);
	} catch {
		throw new Error("PNG damaged or truncated");
	}
	picture.end();
	const { buffer, byteOffset } = bytes;
	const view = new DataView(buffer, byteOffset);
	return { width: view.getUint32(16), height: view.getUint32(20) };
}
