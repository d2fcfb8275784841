import Bitmap from "commodetto/Bitmap";
import JPEG from "commodetto/readJPEG";
import Inflate from "inflate";
import config from "mc/config";
import Timer from "timer";
import type { FaceScreen } from "./face-screen.js";
import type { PictureCanvas } from "./fitted-picture.js";
import type { JpegDecoder } from "./jpeg-picture.js";
import { picturePreview } from "./picture-preview.js";
import type { Inflater } from "./png-picture.js";

/** Pictures on the screen of a face, whose pixels must have 16 bits. The SDK decodes them. */
export default (face: FaceScreen): ReturnType<typeof picturePreview> =>
	picturePreview({
		screen: {
			canvas: face.canvas as unknown as PictureCanvas,
			rotation: config.rotation,
			makeBitmap: (width, height, pixels) => new Bitmap(width, height, Bitmap.Default, pixels, 0),
		},
		face,
		openInflater: () => new Inflate() as unknown as Inflater,
		openJpeg: () => new JPEG() as unknown as JpegDecoder,
		timer: Timer,
	});
