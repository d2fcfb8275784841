import type { TimerHandle, TimerModule } from "../hardware.js";
import { type ByteSource, type Camera, heldBytes } from "../pictures.js";

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

/** Photos from a camera, which stays open: the SDK's driver for the ESP32 hangs when a started one is closed. */
export class ImageCamera implements Camera {
	private readonly options: ImageCameraOptions;
	private camera: ImageInput | undefined;
	/** Pictures still to skip. */
	private toSkip = 0;
	/** Takes the next picture, if one is awaited. */
	private take: ((frame: Frame) => void) | undefined;
	private isTaken = false;

	constructor(options: ImageCameraOptions) {
		this.options = options;
	}

	async capture(): Promise<ByteSource> {
		if (this.isTaken) {
			throw new Error("the camera is busy with another photo");
		}
		this.isTaken = true;
		let frame: Frame | undefined;
		try {
			frame = await this.nextFrame();
			return this.asJpeg(frame);
		} catch (error) {
			this.release(frame);
			throw error;
		}
	}

	private nextFrame(): Promise<Frame> {
		const camera = this.open();
		// Waiting pictures are old.
		for (let old = camera.read(); old !== undefined; old = camera.read()) {
			old.close();
		}
		this.toSkip = FIRST_FRAMES;
		const { timer } = this.options;
		return new Promise((resolve, reject) => {
			const waiting: TimerHandle = timer.set(() => {
				this.take = undefined;
				reject(new Error(`camera timeout: no picture within ${TIMEOUT} ms`));
			}, TIMEOUT);
			this.take = (frame) => {
				timer.clear(waiting);
				this.take = undefined;
				resolve(frame);
			};
		});
	}

	private open(): ImageInput {
		if (this.camera === undefined) {
			const { camera, width, height, encode } = this.options;
			const imageType = encode === undefined ? "jpeg" : RGB565BE;
			const onReadable = (): void => this.receive();
			this.camera = new camera.io({ ...camera, width, height, imageType, format: "buffer/disposable", onReadable });
			this.camera.start();
		}
		return this.camera;
	}

	/** Pictures that are not awaited stay with the camera, which then pauses. */
	private receive(): void {
		const frame = this.take && this.camera?.read();
		if (frame !== undefined && this.toSkip > 0) {
			this.toSkip -= 1;
			frame.close();
		} else if (frame !== undefined) {
			this.take?.(frame);
		}
	}

	private asJpeg(frame: Frame): ByteSource {
		let isHeld = true;
		const release = (): void => {
			if (isHeld) {
				isHeld = false;
				this.release(frame);
			}
		};
		const { encode } = this.options;
		if (encode === undefined) {
			return heldBytes(new Uint8Array(frame), release);
		}
		const { width, height } = this.camera as ImageInput;
		const file = new Uint8Array(encode(frame, width, height, QUALITY));
		release();
		return heldBytes(file);
	}

	private release(frame: Frame | undefined): void {
		this.isTaken = false;
		frame?.close();
	}
}
