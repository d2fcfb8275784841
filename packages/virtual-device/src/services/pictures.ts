import { inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import type { Face } from "../../../../src/hardware/hardware.js";
import type { PictureScreen } from "../../../../src/screen/fitted-picture.js";
import { JpegHeader } from "../../../../src/screen/jpeg-header.js";
import { type Inflater, PngPicture } from "../../../../src/screen/png-picture.js";
import { type DrawnScreen, drawFaceOf } from "./drawn-screen.js";
import { PixelCanvas } from "./pixel-canvas.js";

/** The content of the simulated screen. */
export type ScreenPicture = DrawnScreen & Face;

const ROOM_QUALITY = 80;

const END_OF_IMAGE = Uint8Array.of(0xff, 0xd9);

/** Draws the simulated camera's picture: a window's light falling on a wall. */
export function drawRoom(): Uint8Array {
	const [width, height] = [320, 240];
	const data = Buffer.alloc(width * height * 4, 255);
	for (let y = 0; y < height; y += 1) {
		for (let x = 0; x < width; x += 1) {
			const inWindow = x > 60 && x < 140 && y > 40 && y < 130;
			const pixel = inWindow ? [170, 205, 255] : [200 - y / 4, 170 - y / 4, 130 - x / 8];
			data.set(pixel, (y * width + x) * 4);
		}
	}
	return jpeg.encode({ data, width, height }, ROOM_QUALITY).data;
}

/** The simulated screen, as JPEG: what the firmware draws on a board's. */
export function drawScreen({ quality, ...screen }: ScreenPicture & { readonly quality: number }): Uint8Array {
	const { pixels, width, height } = drawFaceOf(screen);
	return jpeg.encode({ data: pixels, width, height }, quality).data;
}

/** A screen for what only has to be decoded. */
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
