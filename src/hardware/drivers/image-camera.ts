import type { TimerModule } from "../hardware.js";
import { type Camera, heldBytes } from "../pictures.js";

/** A picture in the memory of the camera's driver. Must be closed. */
export interface Frame extends ArrayBuffer {
	close(): void;
}

/** ECMA-419's image input. */
export interface ImageInput {
	readonly width: number;
	readonly height: number;
	start(): void;
	read(): Frame | undefined;
}

export interface ImageCameraOptions {
	/** Class of the image input. */
	readonly io: new (
		options: object,
	) => ImageInput;
	/** The smallest size of a photo in pixels, if the camera supports it. */
	readonly width: number;
	readonly height: number;
	/** Encodes pixels, the high byte first, as a JPEG file. Default: the camera makes JPEG files itself. */
	readonly encode?: (pixels: ArrayBuffer, width: number, height: number, quality: number) => ArrayBuffer;
	readonly timer: TimerModule;
}

/** The format of pixels with 16 bits, the high byte first, as the SDK's bitmaps name it. */
const RGB565BE = 8;

/** Percent: the quality of a JPEG that is encoded here. */
const QUALITY = 75;

/** Pictures skipped while the camera adapts to the light. */
const FIRST_FRAMES = 3;

/** Time limit of a picture, and interval of its polls, ms. */
const TIMEOUT = 5_000;
const POLL_INTERVAL = 20;

/** Makes a camera of photos, which stays open: the SDK's driver for the ESP32 hangs when a started one is closed. */
export const imageCamera = ({ io, width, height, encode, timer }: ImageCameraOptions): Camera => {
	let input: ImageInput | undefined;
	let isTaken = false;
	const nextFrame = async (from: ImageInput): Promise<Frame> => {
		// Discards waiting pictures, which are outdated.
		for (let old = from.read(); old !== undefined; old = from.read()) {
			old.close();
		}
		let toSkip = FIRST_FRAMES;
		for (let waited = 0; waited < TIMEOUT; waited += POLL_INTERVAL) {
			await new Promise<void>((resolve) => void timer.set(resolve, POLL_INTERVAL));
			const frame = from.read();
			if (frame !== undefined && toSkip === 0) {
				return frame;
			}
			toSkip -= frame === undefined ? 0 : 1;
			frame?.close();
		}
		throw new Error(`camera timeout: no picture within ${TIMEOUT} ms`);
	};
	return {
		async capture() {
			if (isTaken) {
				throw new Error("the camera is busy with another photo");
			}
			isTaken = true;
			let frame: Frame | undefined;
			let isHeld = true;
			const release = (): void => {
				if (isHeld) {
					isHeld = false;
					isTaken = false;
					frame?.close();
				}
			};
			try {
				if (input === undefined) {
					const imageType = encode === undefined ? "jpeg" : RGB565BE;
					input = new io({ width, height, imageType, format: "buffer/disposable" });
					input.start();
				}
				frame = await nextFrame(input);
				if (encode === undefined) {
					return heldBytes(new Uint8Array(frame), release);
				}
				const file = new Uint8Array(encode(frame, input.width, input.height, QUALITY));
				release();
				return heldBytes(file);
			} catch (error) {
				release();
				throw error;
			}
		},
	};
};
