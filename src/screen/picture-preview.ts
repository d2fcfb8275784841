import type { TimerHandle, TimerModule } from "../hardware/hardware.js";
import type { PictureSink, Preview } from "../hardware/pictures.js";
import type { FaceScreen } from "./face-screen.js";
import type { PictureScreen } from "./fitted-picture.js";
import { type JpegDecoder, JpegPicture, type PictureDecoder } from "./jpeg-picture.js";
import { type Inflater, PngPicture } from "./png-picture.js";

interface PreviewOptions {
	readonly screen: PictureScreen;
	/** The face that a picture covers. */
	readonly face: Pick<FaceScreen, "isCovered" | "cover" | "uncover">;
	readonly openJpeg: () => JpegDecoder;
	readonly openInflater: () => Inflater;
	readonly timer: TimerModule;
}

/** Milliseconds that a picture stays on the screen. */
const SHOW_TIME = 10_000;

/** Shows pictures on the screen of a face, which returns after a time, or for an alert or a code. */
export const picturePreview = (options: PreviewOptions): Preview => {
	let shown: ShownPicture | undefined;
	return {
		begin() {
			shown?.close();
			shown = new ShownPicture(options);
			return shown;
		},
	};
};

class ShownPicture implements PictureSink {
	private readonly options: PreviewOptions;
	private decoder: PictureDecoder | undefined;
	private timer: TimerHandle | undefined;
	private isClosed = false;

	constructor(options: PreviewOptions) {
		this.options = options;
	}

	write(piece: ArrayBuffer): void {
		this.expectScreen();
		const bytes = new Uint8Array(piece);
		if (this.decoder === undefined && bytes.byteLength > 0) {
			this.decoder = this.open(bytes[0] as number);
			this.options.face.cover();
		}
		this.decoder?.write(bytes);
	}

	async end(): Promise<void> {
		this.expectScreen();
		if (this.decoder === undefined) {
			throw new Error("the file is empty");
		}
		this.decoder.end();
		this.decoder.close();
		this.timer = this.options.timer.set(() => this.cancel(), SHOW_TIME);
	}

	cancel(): void {
		if (!this.isClosed) {
			this.close();
			this.options.face.uncover();
		}
	}

	/** Stops drawing, and leaves the screen unchanged. */
	close(): void {
		this.isClosed = true;
		this.decoder?.close();
		this.options.timer.clear(this.timer);
	}

	/** @param first the file's first byte */
	private open(first: number): PictureDecoder {
		const { screen, openJpeg, openInflater } = this.options;
		if (first === 0xff) {
			return new JpegPicture(screen, openJpeg);
		}
		if (first === 0x89) {
			return new PngPicture(screen, openInflater);
		}
		throw new Error("the file is neither a JPEG nor a PNG");
	}

	private expectScreen(): void {
		if (this.isClosed) {
			throw new Error("replaced by another picture");
		}
		if (this.decoder !== undefined && !this.options.face.isCovered) {
			throw new Error("replaced by an alert");
		}
	}
}
