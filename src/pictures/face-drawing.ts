import type { Face, Theme } from "../hardware/hardware.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { visibleText } from "../text/line-breaks.js";
import type { PageLine } from "./text-pages.js";

/** A font of the canvas. */
export interface Font {
	/** Pixels from line to line. */
	readonly height: number;
}

/** What the face is drawn on: Moddable's Poco, as far as it is used. Lengths are pixels, colours what `makeColor` made. */
export interface Canvas {
	readonly width: number;
	readonly height: number;
	makeColor(red: number, green: number, blue: number): number;
	/** Begins a drawing of the whole canvas, or of a part of it. */
	begin(x?: number, y?: number, width?: number, height?: number): void;
	end(): void;
	fillRectangle(color: number, x: number, y: number, width: number, height: number): void;
	drawText(text: string, font: Font, color: number, x: number, y: number, width?: number): void;
	getTextWidth(text: string, font: Font): number;
}

/** The page of words that is to be seen. */
export interface ShownPage {
	readonly lines: readonly PageLine[];
	/** Its number, from 0, of so many. */
	readonly number: number;
	readonly count: number;
}

/** Everything that is to be seen. */
export interface FacePicture extends Face {
	readonly page: ShownPage;
	readonly theme: Theme;
	/** Percent, as the bar shows it. */
	readonly brightness: number;
	/** Percent of their full light that the colours have. */
	readonly dim: number;
}

interface Colors {
	readonly background: number;
	readonly bar: number;
	readonly text: number;
	readonly accent: number;
	readonly alert: number;
	readonly onAlert: number;
}

/** How a mouth is drawn: its width as a part of the face's, its height in pixels, and where its corners are. */
interface Mouth {
	readonly width: number;
	readonly height: number;
	readonly corners: "up" | "down" | "level";
}

const SMILE: Mouth = { width: 0.6, height: 6, corners: "up" };
const FROWN: Mouth = { width: 0.6, height: 6, corners: "down" };
const OPEN: Mouth = { width: 0.3, height: 20, corners: "level" };
const LEVEL: Mouth = deepFreeze({ width: 0.5, height: 6, corners: "level" });

/** The words that backends use for emotions. One that is not here has a level mouth. */
const MOUTHS: Readonly<Record<string, Mouth>> = deepFreeze({
	happy: SMILE,
	laughing: OPEN,
	funny: SMILE,
	loving: SMILE,
	winking: SMILE,
	cool: SMILE,
	relaxed: SMILE,
	delicious: SMILE,
	kissy: SMILE,
	confident: SMILE,
	silly: OPEN,
	surprised: OPEN,
	shocked: OPEN,
	sad: FROWN,
	crying: FROWN,
	angry: FROWN,
	embarrassed: FROWN,
});

/** The least part of their light that colours keep: a screen that is dimmed to 0 can still be found. */
const LEAST_LIGHT = 0.15;

/** Pixels around what is drawn. */
export const MARGIN = 6;

/** Pixels of height below which eyes and mouth would lie on each other. */
const MIN_FACE = 24;

/** The part of the room between header and footer that words leave to the face. */
const FACE_SHARE = 0.4;

/** Pixels of the bar that shows how far pages are read. */
const PROGRESS_HEIGHT = 2;

/** Lines that words have at least, so that the face does not move for a short one. */
const MIN_LINES = 2;

/** The lines of words that a face leaves room for. A small screen leaves out the face, rather than to turn pages of one or two lines. */
export function linesOfWords(canvas: Canvas, font: Font): number {
	const between = canvas.height - 2 * barOf(font) - MARGIN;
	const face = Math.max(MIN_FACE, Math.floor(between * FACE_SHARE));
	const beside = Math.floor((between - face) / font.height);
	return beside > MIN_LINES ? beside : Math.max(1, Math.floor(between / font.height));
}

/** Pixels of the bars above and below. */
function barOf(font: Font): number {
	return font.height + MARGIN;
}

/**
 * Draws the whole face: a bar for the state and the backend, the face or a code, what is said, and what is set.
 *
 * @param codeFont a large font for a code, perhaps of digits only
 */
export function drawFace(canvas: Canvas, font: Font, picture: FacePicture, codeFont: Font = font): void {
	const colors = mix(canvas, picture);
	const { lines, count } = picture.page;
	const barHeight = barOf(font);
	const footer = canvas.height - barHeight;
	// The last page has as much room as the others, so that the face does not move.
	const rows = count > 1 ? linesOfWords(canvas, font) : Math.max(MIN_LINES, lines.length);
	const words = Math.max(barHeight, footer - rows * font.height - MARGIN);
	canvas.begin();
	canvas.fillRectangle(colors.background, 0, 0, canvas.width, canvas.height);
	drawHeader(canvas, font, colors, picture, barHeight);
	if (picture.code === "" && words - barHeight >= MIN_FACE) {
		drawFeatures(canvas, colors, picture, barHeight, words);
	} else if (picture.code !== "") {
		const fits = codeFont.height <= words - barHeight && fitsIn(canvas, codeFont, picture.code);
		drawCode(canvas, fits ? codeFont : font, colors, picture.code, (barHeight + words) >> 1);
	}
	drawWords(canvas, font, colors, picture, words);
	drawFooter(canvas, font, colors, picture, footer);
	canvas.end();
}

/** The colours of a theme. */
export function mix(canvas: Canvas, { theme, dim }: FacePicture): Colors {
	const light = LEAST_LIGHT + ((1 - LEAST_LIGHT) * dim) / 100;
	const color = (red: number, green: number, blue: number): number =>
		canvas.makeColor(Math.round(red * light), Math.round(green * light), Math.round(blue * light));
	const isLight = theme === "light";
	return {
		background: isLight ? color(255, 255, 255) : color(16, 18, 24),
		bar: isLight ? color(224, 228, 236) : color(44, 48, 60),
		text: isLight ? color(24, 28, 36) : color(236, 238, 244),
		accent: color(0, 132, 214),
		alert: color(204, 36, 36),
		onAlert: color(255, 255, 255),
	};
}

/** The state and the backend. */
export function drawHeader(canvas: Canvas, font: Font, colors: Colors, picture: FacePicture, height: number): void {
	const { state, backend, connected } = picture;
	canvas.fillRectangle(colors.bar, 0, 0, canvas.width, height);
	const stateWidth = canvas.getTextWidth(state, font);
	canvas.drawText(state, font, colors.text, MARGIN, MARGIN / 2);
	const room = canvas.width - stateWidth - 4 * MARGIN;
	const name = visibleText(hostOf(backend), (character) => canvas.getTextWidth(character, font));
	if (room < 0 || name === "") {
		return;
	}
	const width = Math.min(canvas.getTextWidth(name, font), room);
	canvas.drawText(
		name,
		font,
		connected ? colors.accent : colors.alert,
		canvas.width - MARGIN - width,
		MARGIN / 2,
		width,
	);
}

/** Two eyes, and a mouth for the emotion; the eyes are wide while the device speaks. */
function drawFeatures(canvas: Canvas, colors: Colors, picture: FacePicture, top: number, bottom: number): void {
	const height = bottom - top;
	const center = canvas.width >> 1;
	const eye = Math.max(6, height >> 3);
	const eyeHeight = picture.emotion === "sleepy" ? eye >> 2 : picture.state === "speaking" ? eye * 2 : eye;
	const eyeTop = top + (height >> 2);
	const apart = canvas.width >> 3;
	canvas.fillRectangle(colors.text, center - apart - eye, eyeTop, eye, eyeHeight);
	canvas.fillRectangle(colors.text, center + apart, eyeTop, eye, eyeHeight);
	const mouth = MOUTHS[picture.emotion] ?? LEVEL;
	const width = Math.round(2 * apart * mouth.width);
	const mouthTop = top + Math.round(height * 0.65);
	canvas.fillRectangle(colors.text, center - (width >> 1), mouthTop, width, mouth.height);
	if (mouth.corners !== "level") {
		const corner = mouth.corners === "up" ? mouthTop - mouth.height : mouthTop + mouth.height;
		canvas.fillRectangle(colors.text, center - (width >> 1) - mouth.height, corner, mouth.height, mouth.height);
		canvas.fillRectangle(colors.text, center + (width >> 1), corner, mouth.height, mouth.height);
	}
}

/** Whether a font has all characters of a code, and the screen room for them. */
function fitsIn(canvas: Canvas, font: Font, code: string): boolean {
	const hasGlyphs = Array.from(code).every((character) => canvas.getTextWidth(character, font) > 0);
	return hasGlyphs && canvas.getTextWidth(code, font) <= canvas.width;
}

/** In the middle between left and right, and around a line. */
function drawCode(canvas: Canvas, font: Font, colors: Colors, code: string, middle: number): void {
	const text = visibleText(code, (character) => canvas.getTextWidth(character, font));
	const width = Math.min(canvas.getTextWidth(text, font), canvas.width);
	canvas.drawText(text, font, colors.text, (canvas.width - width) >> 1, middle - (font.height >> 1), width);
}

/** A page of words: an alert on its colour; under several pages a bar that shows how far they are read. */
function drawWords(canvas: Canvas, font: Font, colors: Colors, { page }: FacePicture, top: number): void {
	let y = top;
	for (const { text, isAlert } of page.lines) {
		if (isAlert) {
			canvas.fillRectangle(colors.alert, 0, y, canvas.width, font.height);
		}
		canvas.drawText(text, font, isAlert ? colors.onAlert : colors.text, MARGIN, y);
		y += font.height;
	}
	if (page.count > 1) {
		const read = Math.round((canvas.width * (page.number + 1)) / page.count);
		canvas.fillRectangle(colors.accent, 0, canvas.height - barOf(font) - PROGRESS_HEIGHT, read, PROGRESS_HEIGHT);
	}
}

function drawFooter(canvas: Canvas, font: Font, colors: Colors, picture: FacePicture, top: number): void {
	const half = canvas.width >> 1;
	canvas.fillRectangle(colors.bar, 0, top, canvas.width, canvas.height - top);
	if (picture.volume !== undefined) {
		drawLevel(canvas, font, colors, { name: "volume", percent: picture.volume, x: MARGIN, y: top, width: half });
	}
	drawLevel(canvas, font, colors, { name: "brightness", percent: picture.brightness, x: half, y: top, width: half });
}

interface Level {
	readonly name: string;
	readonly percent: number;
	readonly x: number;
	readonly y: number;
	readonly width: number;
}

/** A word and a number, or the number alone where there is no room, and under them a bar that is as long as the number is high. */
function drawLevel(canvas: Canvas, font: Font, colors: Colors, { name, percent, x, y, width }: Level): void {
	const named = `${name} ${percent}`;
	const text = canvas.getTextWidth(named, font) <= width - MARGIN ? named : `${percent}%`;
	canvas.drawText(text, font, colors.text, x, y, width - MARGIN);
	const length = Math.round(((width - 2 * MARGIN) * percent) / 100);
	canvas.fillRectangle(colors.accent, x, canvas.height - 5, length, 4);
}

/** The host in a URL, for there is no room for more. */
function hostOf(url: string): string {
	const start = url.indexOf("://") + 3;
	const end = url.indexOf("/", start);
	return start < 3 ? url : url.slice(start, end < 0 ? undefined : end);
}
