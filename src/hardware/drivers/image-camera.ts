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

export interface ImageInputOptions {
	readonly width: number;
	readonly height: number;
	/** "jpeg", or the number of a format of pixels. */
	readonly imageType: "jpeg" | number;
	readonly format: "buffer/disposable";
	readonly onReadable: () => void;
}

export interface ImageCameraOptions {
	/** ECMA-419's record. */
	readonly camera: { readonly io: new (options: ImageInputOptions) => ImageInput };
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

/** Milliseconds that a picture may take. */
const TIMEOUT = 5_000;

/** Makes a camera of photos, which stays open: the SDK's driver for the ESP32 hangs when a started one is closed. */
export const imageCamera = ({
	camera: { io, ...record },
	width,
	height,
	encode,
	timer,
}: ImageCameraOptions): Camera => {
	let input: ImageInput | undefined;
	/** Pictures still to skip. */
	let toSkip = 0;
	/** Takes the next picture, if one is awaited. */
	let take: ((frame: Frame) => void) | undefined;
	let isTaken = false;
	/** Pictures that are not awaited stay with the camera, which then pauses. */
	const onReadable = (): void => {
		const frame = take && input?.read();
		if (frame !== undefined && toSkip > 0) {
			toSkip -= 1;
			frame.close();
		} else if (frame !== undefined) {
			take?.(frame);
		}
	};
	const open = (): ImageInput => {
		if (input === undefined) {
			const imageType = encode === undefined ? "jpeg" : RGB565BE;
			input = new io({ ...record, width, height, imageType, format: "buffer/disposable", onReadable });
			input.start();
		}
		return input;
	};
	const nextFrame = (): Promise<Frame> => {
		const opened = open();
		// Waiting pictures are old.
		for (let old = opened.read(); old !== undefined; old = opened.read()) {
			old.close();
		}
		toSkip = FIRST_FRAMES;
		return new Promise((resolve, reject) => {
			const waiting = timer.set(() => {
				take = undefined;
				reject(new Error(`camera timeout: no picture within ${TIMEOUT} ms`));
			}, TIMEOUT);
			take = (frame) => {
				timer.clear(waiting);
				take = undefined;
				resolve(frame);
			};
		});
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
				frame = await nextFrame();
				if (encode === undefined) {
					return heldBytes(new Uint8Array(frame), release);
				}
				const { width, height } = input as ImageInput;
				const file = new Uint8Array(encode(frame, width, height, QUALITY));
				release();
				return heldBytes(file);
			} catch (error) {
				release();
				throw error;
			}
		},
	};
};
