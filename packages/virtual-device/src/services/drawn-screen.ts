import { BLANK_FACE, type Face, type Theme } from "../../../../src/hardware/hardware.js";
import { FaceScreen } from "../../../../src/screen/face/face-screen.js";
import { type ReadFont, readBmFont } from "../../../xs-mcp/src/fonts/bm-font.js";
import type { GlyphSet } from "../../../xs-mcp/src/fonts/glyph-sets.js";
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

const fonts = new Map<string, ReadFont>();

/** Draws a face as the firmware does on boards: with its code and fonts, the first page of its words. */
export function drawFaceOf(screen: DrawnScreen, glyphs: GlyphSet = "cjk"): PixelCanvas {
	const { width, height, brightness, theme, ...face } = screen;
	const canvas = new PixelCanvas(width, height);
	const drawn = new FaceScreen({
		canvas,
		font: fontOf(`glyphs-${glyphs}`),
		codeFont: fontOf("codes"),
		timer: NO_TIMER,
	});
	drawn.brightness = brightness;
	drawn.theme = theme;
	drawn.show({ ...BLANK_FACE, ...face });
	drawn.draw();
	return canvas;
}

/** Reads a font of the firmware once. */
export function fontOf(name: string): ReadFont {
	const known = fonts.get(name) ?? readBmFont(name);
	fonts.set(name, known);
	return known;
}
