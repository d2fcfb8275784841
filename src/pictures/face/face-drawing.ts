import type { Face, Theme } from "../../hardware/hardware.js";
import { Brush, type Canvas, type Font, type Rectangle } from "./brush.js";
import type { Look } from "./emotions.js";
import { type Colors, mix } from "./face-colors.js";
import { drawFeatures, FACE_HEIGHT, FACE_WIDTH, type FacePlace, type Pose } from "./face-features.js";
import { visibleText } from "./line-breaks.js";
import type { SentGlyphs } from "./sent-glyphs.js";
import { drawHeader, drawLevel, headerHeight, type Level, levelTop, MARGIN, type Tools } from "./status-drawing.js";
import type { ShownPage } from "./text-pages.js";

/** Everything that is to be seen. */
export interface FacePicture {
	readonly face: Face;
	readonly look: Look;
	readonly pose: Readonly<Pose>;
	readonly page: ShownPage;
	readonly theme: Theme;
	/** Percent of their full light that the colours have. */
	readonly dim: number;
	/** Undefined unless one has just been set. */
	readonly level: Level | undefined;
}

/** The fonts of texts. */
export interface Fonts {
	readonly font: Font;
	/** A large font for a code, perhaps of digits only. */
	readonly codeFont: Font;
	readonly sent: SentGlyphs;
}

/** Pixels of height below which a face cannot be told apart. */
const MIN_FACE = 36;

/** The part of the room below the header that words leave to the face. */
const FACE_SHARE = 0.42;

/** Pixels of the bar that shows how far pages are read. */
const PROGRESS_HEIGHT = 2;

/** Lines that words have at least, so that the face does not move for a short one. */
const MIN_LINES = 2;

/** Rows that are drawn at a time: the canvas keeps a list of what it is to draw, which has an end. */
const BAND = 8;

/** The same where glyphs are that a backend has sent: each row of one takes up to 8 commands. */
const SENT_BAND = 2;

/** Corner radius of an alert's panel, and its padding, in pixels. */
const ALERT_CORNER = 5;
export const ALERT_EDGE = 2;

/** The lines of words that a face leaves room for. A small screen leaves out the face, rather than to turn pages of one or two lines. */
export const linesOfWords = (canvas: Canvas, font: Font): number => {
	const below = canvas.height - headerHeight(font) - MARGIN;
	const face = Math.max(MIN_FACE, Math.floor(below * FACE_SHARE));
	const beside = Math.floor((below - face) / font.height);
	return beside > MIN_LINES ? beside : Math.max(1, Math.floor(below / font.height));
};

/** The first row of the words: the last page has as much room as the others, so that the face does not move. */
export const wordsTop = (canvas: Canvas, font: Font, { lines, count }: ShownPage): number => {
	if (lines.length === 0) {
		return canvas.height;
	}
	const rows = count > 1 ? linesOfWords(canvas, font) : Math.max(MIN_LINES, lines.length);
	return Math.max(headerHeight(font), canvas.height - rows * font.height - MARGIN);
};

/** Places the face between header and words; undefined if there is no room. */
export const placeOf = (canvas: Canvas, font: Font, words: number): FacePlace | undefined => {
	const top = headerHeight(font);
	const height = words - top;
	if (height < MIN_FACE) {
		return undefined;
	}
	const unit = Math.min(canvas.width / FACE_WIDTH, height / FACE_HEIGHT);
	return { x: canvas.width >> 1, y: top + (height >> 1), unit };
};

/** Draws parts of a face on one canvas. Poco draws nothing twice: each part begins with its ground. */
export class FacePainter {
	private readonly canvas: Canvas;
	private readonly font: Font;
	private readonly codeFont: Font;
	private readonly sent: SentGlyphs;
	private readonly brush: Brush;
	private colors: Colors | undefined;
	private theme: Theme = "light";
	private dim = 0;

	constructor(canvas: Canvas, { font, codeFont, sent }: Fonts) {
		this.canvas = canvas;
		this.font = font;
		this.codeFont = codeFont;
		this.sent = sent;
		this.brush = new Brush(canvas);
	}

	/** Draws everything in a rectangle of whole pixels. */
	paint(picture: FacePicture, { x, y, width, height }: Rectangle): void {
		const canvas = this.canvas;
		const colors = this.mixed(picture);
		const tools = { canvas, brush: this.brush, font: this.font, colors };
		const words = wordsTop(canvas, this.font, picture.page);
		const place = placeOf(canvas, this.font, words);
		const end = Math.min(y + height, canvas.height);
		const small = this.sent.isEmpty ? canvas.height + BAND : words - ALERT_EDGE;
		let rows: number;
		for (let top = y; top < end; top += rows) {
			rows = Math.min(top + BAND > small ? SENT_BAND : BAND, end - top);
			canvas.begin(x, top, width, rows);
			this.brush.clip(x, top, width, rows);
			canvas.fillRectangle(colors.background, x, top, width, rows);
			this.drawBand(tools, picture, words, place);
			canvas.end();
		}
	}

	private mixed({ theme, dim }: FacePicture): Colors {
		if (this.colors === undefined || theme !== this.theme || dim !== this.dim) {
			this.colors = mix(this.canvas, theme, dim);
			this.theme = theme;
			this.dim = dim;
		}
		return this.colors;
	}

	private drawBand(tools: Tools, picture: FacePicture, words: number, place: FacePlace | undefined): void {
		const { canvas, brush, font, colors } = tools;
		const { face, look, pose, page, level } = picture;
		const header = headerHeight(font);
		if (brush.reaches(0, 0, canvas.width, header)) {
			drawHeader(tools, face);
		}
		if (brush.reaches(0, header, canvas.width, words - header)) {
			if (face.code !== "") {
				this.drawCode(tools, face.code, header, words);
			} else if (place !== undefined) {
				drawFeatures({ brush, colors, look, pose, place });
			}
		}
		if (brush.reaches(0, words - ALERT_EDGE, canvas.width, canvas.height)) {
			drawWords(tools, this.sent, page, words, face.state === "upgrading" ? colors.notice : colors.alert);
		}
		if (level !== undefined && brush.reaches(0, levelTop(canvas), canvas.width, canvas.height)) {
			drawLevel(tools, level);
		}
	}

	/** In the middle of the face's room, large if there is room and the large font has all characters. */
	private drawCode({ canvas, font, colors }: Tools, code: string, top: number, bottom: number): void {
		const large = this.codeFont;
		const fits = large.height <= bottom - top && fitsIn(canvas, large, code);
		const used = fits ? large : font;
		const text = visibleText(code, (character) => canvas.getTextWidth(character, used));
		const width = Math.min(canvas.getTextWidth(text, used), canvas.width);
		const y = ((top + bottom) >> 1) - (used.height >> 1);
		canvas.drawText(text, used, colors.ink, (canvas.width - width) >> 1, y, width);
	}
}

/** Whether a font has all characters of a code, and the screen room for them. */
const fitsIn = (canvas: Canvas, font: Font, code: string): boolean => {
	const hasGlyphs = Array.from(code).every((character) => canvas.getTextWidth(character, font) > 0);
	return hasGlyphs && canvas.getTextWidth(code, font) <= canvas.width;
};

/** A page of words: an alert on a panel; under several pages a bar that shows how far they are read. */
const drawWords = (
	{ canvas, brush, font, colors }: Tools,
	sent: SentGlyphs,
	{ lines, number, count }: ShownPage,
	top: number,
	panel: number,
): void => {
	const alerts = lines.filter(({ isAlert }) => isAlert).length;
	if (alerts > 0) {
		brush.color = panel;
		const [width, height] = [canvas.width - 2 * ALERT_EDGE, alerts * font.height + 2 * ALERT_EDGE];
		brush.rounded(ALERT_EDGE, top - ALERT_EDGE, width, height, ALERT_CORNER);
	}
	let y = top;
	for (const { text, isAlert } of lines) {
		if (brush.reaches(0, y, canvas.width, font.height)) {
			sent.drawText(canvas, brush, text, font, isAlert ? colors.onColor : colors.ink, MARGIN, y);
		}
		y += font.height;
	}
	if (count > 1) {
		const read = Math.round((canvas.width * (number + 1)) / count);
		canvas.fillRectangle(colors.accent, 0, canvas.height - PROGRESS_HEIGHT, read, PROGRESS_HEIGHT);
	}
};
