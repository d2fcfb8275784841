import jpeg from "jpeg-js";
import type { Face } from "../../../src/hardware/hardware.js";
import { type DrawnScreen, drawFaceOf } from "./drawn-screen.js";

/** The content of the simulated screen. */
export type ScreenPicture = DrawnScreen & Face;

const ROOM_QUALITY = 80;

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

/**
 * The size of a picture, in pixels.
 *
 * @throws Error when the bytes are neither JPEG nor PNG
 */
export function measurePicture(bytes: Uint8Array): { width: number; height: number } {
	const buffer = Buffer.from(bytes);
	const isPng = buffer.length >= 24 && buffer.readUInt32BE(0) === 0x89504e47;
	return isPng ? { width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) } : jpeg.decode(buffer);
}
