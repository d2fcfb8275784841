import { BLANK_FACE, type Face } from "../../../../src/hardware/hardware.js";
import type { TimerModule } from "../../../../src/hardware/timer.js";
import type { Rectangle } from "../../../../src/screen/face/brush.js";
import { FaceScreen } from "../../../../src/screen/face/face-screen.js";
import { fontOf } from "./drawn-screen.js";
import type { ScreenPicture } from "./pictures.js";
import { PixelCanvas } from "./pixel-canvas.js";

const TIMER: TimerModule = {
	set: (callback, delay) => setTimeout(callback, delay),
	repeat: (callback, interval) => setInterval(callback, interval),
	clear: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
};

/** A screen that moves: the firmware's own face, drawn with its code and its fonts by Node's timers. */
export class LiveScreen {
	readonly #canvas: PixelCanvas;
	readonly #screen: FaceScreen;

	/** @param onDrawn called with each part that has changed */
	constructor(
		{ width, height }: { readonly width: number; readonly height: number },
		onDrawn: (area: Rectangle) => void,
	) {
		this.#canvas = new PixelCanvas(width, height, onDrawn);
		const [font, codeFont] = [fontOf("glyphs-cjk"), fontOf("codes")];
		this.#screen = new FaceScreen({ canvas: this.#canvas, font, codeFont, timer: TIMER });
	}

	/**
	 * Mirrors the device's screen.
	 *
	 * @param changed the members of the face that the firmware has just shown: only these can wake the face
	 */
	show(picture: ScreenPicture, changed: readonly string[] = Object.keys(BLANK_FACE)): void {
		this.#screen.brightness = picture.brightness;
		this.#screen.theme = picture.theme;
		const face = picture as unknown as Readonly<Record<string, unknown>>;
		this.#screen.show(Object.fromEntries(changed.map((name) => [name, face[name]])) as Partial<Face>);
	}

	/** The pixels of a part: RGBA, row by row. */
	read({ x, y, width, height }: Rectangle): Buffer {
		const { pixels, width: columns } = this.#canvas;
		const rows = Array.from({ length: height }, (_, row) => {
			const at = ((y + row) * columns + x) * 4;
			return pixels.subarray(at, at + width * 4);
		});
		return Buffer.concat(rows);
	}

	get whole(): Rectangle {
		return { x: 0, y: 0, width: this.#canvas.width, height: this.#canvas.height };
	}

	close(): void {
		this.#screen.close();
	}
}
