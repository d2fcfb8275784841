import Bitmap from "commodetto/Bitmap";
import BufferOut from "commodetto/BufferOut";
import Poco from "commodetto/Poco";
import type { FaceScreen } from "../face/face-screen.js";
import { type BandCanvas, FaceSnapshot } from "./face-snapshot.js";

/** Bytes of Poco's display list, as for the face on the screen. */
const DISPLAY_LIST = 5120;

/** Pictures of a face on a screen that is not rotated, with 16-bit pixels, little-endian. */
export function openSnapshot(face: FaceScreen): FaceSnapshot {
	return new FaceSnapshot(face, (width, rows) => {
		const band = new BufferOut({ width, height: rows, pixelFormat: Bitmap.RGB565LE });
		const canvas = new Poco(band as unknown as ConstructorParameters<typeof Poco>[0], {
			displayListLength: DISPLAY_LIST,
			rotation: 0,
		});
		const { buffer } = band.bitmap as unknown as { readonly buffer: ArrayBuffer };
		return { canvas: canvas as unknown as BandCanvas, pixels: new Uint16Array(buffer) };
	});
}
