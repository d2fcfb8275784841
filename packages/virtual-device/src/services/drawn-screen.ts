import { BLANK_FACE, type Face, type Theme } from "../../../../src/hardware/hardware.js";
import type { TimerModule } from "../../../../src/hardware/timer.js";
import type { Rectangle } from "../../../../src/screen/brush.js";
import { FaceScreen } from "../../../../src/screen/face-screen.js";
import { type ReadFont, readBmFont } from "../../../xs-mcp/src/build/bm-font.js";
import type { GlyphSet } from "../../../xs-mcp/src/build/glyph-sets.js";
import { PixelCanvas } from "./pixel-canvas.js";

/** The content of a screen: its face and its settings. */
export interface DrawnScreen extends Partial<Face> {
	/** Pixels. */
	readonly width: number;
	readonly height: number;
	/** Percent. */
	readonly brightness: number;
	readonly theme: Theme;
}

/** Nothing happens by itself: a picture is of one moment. */
const NO_TIMER = { set: () => ({}), repeat: () => ({}), clear: () => {} };

const TIMER: TimerModule = {
	set: (callback, delay) => setTimeout(callback, delay),
	repeat: (callback, interval) => setInterval(callback, interval),
	clear: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
};

const fonts = new Map<string, ReadFont>();

/** Draws a face as the firmware does on boards: with its code and fonts, the first page of its words. */
export function drawFaceOf(screen: DrawnScreen, glyphs?: GlyphSet): PixelCanvas {
	const { width, height, brightness, theme, ...face } = screen;
	const canvas = new PixelCanvas(width, height);
	const drawn = openFace(canvas, NO_TIMER, glyphs);
	drawn.brightness = brightness;
	drawn.theme = theme;
	drawn.show({ ...BLANK_FACE, ...face });
	drawn.draw();
	return canvas;
}

/** A screen that moves. */
export type LiveScreen = ReturnType<typeof openLiveScreen>;

/**
 * Opens a screen that moves: the firmware's own face, drawn with its code and its fonts by Node's timers.
 *
 * @param onDrawn called with each part that has changed
 */
export function openLiveScreen(width: number, height: number, onDrawn: (area: Rectangle) => void) {
	const canvas = new PixelCanvas(width, height, onDrawn);
	const screen = openFace(canvas, TIMER);
	return {
		whole: { x: 0, y: 0, width, height },
		/**
		 * Mirrors the device's screen.
		 *
		 * @param changed the members of the face that the firmware has just shown: only these can wake the face
		 */
		show(picture: DrawnScreen, changed: readonly string[] = Object.keys(BLANK_FACE)): void {
			screen.brightness = picture.brightness;
			screen.theme = picture.theme;
			const face = picture as unknown as Readonly<Record<string, unknown>>;
			screen.show(Object.fromEntries(changed.map((name) => [name, face[name]])) as Partial<Face>);
		},
		/** The pixels of a part: RGBA, row by row. */
		read(area: Rectangle): Buffer {
			const rows = Array.from({ length: area.height }, (_, row) => {
				const at = ((area.y + row) * width + area.x) * 4;
				return canvas.pixels.subarray(at, at + area.width * 4);
			});
			return Buffer.concat(rows);
		},
		close: () => screen.close(),
	};
}

function openFace(canvas: PixelCanvas, timer: TimerModule, glyphs: GlyphSet = "cjk"): FaceScreen {
	return new FaceScreen({ canvas, font: fontOf(`glyphs-${glyphs}`), codeFont: fontOf("codes"), timer });
}

/**
 * Reads a font of the firmware once.
 *
 * @internal exported for a test
 */
export function fontOf(name: string): ReadFont {
	const known = fonts.get(name) ?? readBmFont(name);
	fonts.set(name, known);
	return known;
}
