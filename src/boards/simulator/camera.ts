import { openCamera } from "../../drivers/camera/open-camera.js";
import type { Camera } from "../../hardware/pictures.js";
import { EncodedJpeg } from "../../pictures/jpeg/encoded-jpeg.js";
import type { Pixels } from "../../pictures/jpeg/jpeg-encoder.js";

/** Percent. */
const QUALITY = 75;

/** The camera's picture on a computer without one: a window in a wall. */
const DRAWN_ROOM: Pixels = {
	width: 320,
	height: 240,
	read(y, rows) {
		const pixels = new Uint16Array(this.width * rows);
		for (let at = 0; at < pixels.length; at += 1) {
			const [column, row] = [at % this.width, y + Math.floor(at / this.width)];
			const isWindow = column > 60 && column < 140 && row > 40 && row < 130;
			const [red, green, blue] = isWindow ? [20, 50, 31] : [24 - (row >> 5), 42 - (row >> 4), 16 - (column >> 6)];
			pixels[at] = ((red as number) << 11) | ((green as number) << 5) | (blue as number);
		}
		return pixels;
	},
};

/** The computer's camera; or else a drawn picture, with the reason in the trace. */
export function openSimulatorCamera(): Camera {
	const camera = openCamera({ width: 320, height: 240, jpeg: false, closes: true });
	return {
		async capture() {
			try {
				return await camera.capture();
			} catch (error) {
				trace(`camera: ${(error as Error).message}; using a drawn picture\n`);
				return new EncodedJpeg(DRAWN_ROOM, QUALITY);
			}
		},
	};
}
