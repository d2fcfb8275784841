import { BLANK_FACE } from "../hardware/hardware.js";
import { Brush, type Canvas, type Font } from "./brush.js";
import { lookOf } from "./emotions.js";
import { type Colors, mix } from "./face-colors.js";
import { drawFeatures, FACE_HEIGHT, FACE_WIDTH, type FacePlace, type Pose, REST } from "./face-features.js";
import { visibleText } from "./line-breaks.js";
import { SentGlyphs } from "./sent-glyphs.js";
import { drawHeader, drawLevel, headerHeight, type Level, levelTop, MARGIN, type Tools } from "./status-drawing.js";
import { NO_PAGE, type ShownPage } from "./text-pages.js";

/** Pixels of height below which a face cannot be recognised. */
const MIN_FACE = 36;

/** Share of the area below the header that words leave to the face. */
const FACE_SHARE = 0.42;

/** Pixels of the bar that shows the progress of the pages. */
const PROGRESS_HEIGHT = 2;

/** Minimum lines of words, so that a short text does not move the face. */
const MIN_LINES = 2;

/** Rows that are drawn at a time, because the canvas's display list is limited. */
const BAND = 8;

/** Corner radius of an alert's panel, and its padding, in pixels. */
const ALERT_CORNER = 5;
export const ALERT_EDGE = 2;

/** Draws parts of a face on one canvas. Poco has no frame buffer, so each part starts with its background. */
export class FacePainter implements Tools {
	readonly canvas: Canvas;
	readonly font: Font;
	readonly brush: Brush;
	/** Glyphs that the backend has sent. */
	readonly sent: SentGlyphs;
	colors: Colors;
	face = BLANK_FACE;
	look = lookOf(BLANK_FACE.emotion);
	readonly pose: Pose = { ...REST };
	/** The level that has just been set; otherwise undefined. */
	level: Level | undefined;
	/** First row of the words; the height of the canvas without words. */
	wordsTop = 0;
	/** Undefined if there is no room for the face between header and words. */
	place: FacePlace | undefined;
	/** A large font for a code, perhaps of digits only. */
	private readonly codeFont: Font;
	private page = NO_PAGE;

	constructor(canvas: Canvas, font: Font, codeFont: Font) {
		this.canvas = canvas;
		this.font = font;
		this.codeFont = codeFont;
		this.brush = new Brush(canvas);
		this.sent = new SentGlyphs(canvas, font);
		this.colors = mix(canvas, "light", 100);
		this.showPage(NO_PAGE);
	}

	/** Number of lines below a face. A small screen omits the face, rather than turn pages of one or two lines. */
	get linesOfWords(): number {
		const { canvas, font } = this;
		const below = canvas.height - headerHeight(font) - MARGIN;
		const face = Math.max(MIN_FACE, Math.floor(below * FACE_SHARE));
		const beside = Math.floor((below - face) / font.height);
		return beside > MIN_LINES ? beside : Math.max(1, Math.floor(below / font.height));
	}

	/** Places words, and the face above them. All pages have the same height, so that the face does not move. */
	showPage(page: ShownPage): void {
		const { canvas, font } = this;
		const top = headerHeight(font);
		const { lines, count } = page;
		const rows = count > 1 ? this.linesOfWords : Math.max(MIN_LINES, lines.length);
		this.page = page;
		this.wordsTop = lines.length === 0 ? canvas.height : Math.max(top, canvas.height - rows * font.height - MARGIN);
		const height = this.wordsTop - top;
		const unit = Math.min(canvas.width / FACE_WIDTH, height / FACE_HEIGHT);
		this.place = height < MIN_FACE ? undefined : { x: canvas.width >> 1, y: top + (height >> 1), unit };
	}

	/** Draws everything in a rectangle of whole pixels, clipped to the canvas. @param end the row below the last one */
	paint(x: number, y: number, width: number, end: number): void {
		const { canvas, brush, colors } = this;
		const bottom = Math.min(end, canvas.height);
		// A row of sent glyphs takes up to 2 commands for 3 pixels.
		const small = this.sent.isEmpty ? canvas.height + BAND : this.wordsTop - ALERT_EDGE;
		let rows: number;
		for (let top = y; top < bottom; top += rows) {
			rows = Math.min(top + BAND > small ? 1 : BAND, bottom - top);
			canvas.begin(x, top, width, rows);
			brush.clip(x, top, width, rows);
			canvas.fillRectangle(colors.background, x, top, width, rows);
			this.drawBand();
			canvas.end();
		}
	}

	private drawBand(): void {
		const { canvas, brush, colors, face, look, pose, place, level, wordsTop } = this;
		const { width, height } = canvas;
		const header = headerHeight(this.font);
		if (brush.reaches(0, 0, width, header)) {
			drawHeader(this, face);
		}
		if (brush.reaches(0, header, width, wordsTop - header)) {
			if (face.code !== "") {
				this.drawCode(face.code, header, wordsTop);
			} else if (place !== undefined) {
				drawFeatures({ brush, colors, look, pose, place });
			}
		}
		if (brush.reaches(0, wordsTop - ALERT_EDGE, width, height)) {
			this.drawWords();
		}
		if (level !== undefined && brush.reaches(0, levelTop(canvas), width, height)) {
			drawLevel(this, level);
		}
	}

	/** Draws the code in the middle of the face's area, in the large font if it fits and has all characters. */
	private drawCode(code: string, top: number, bottom: number): void {
		const { canvas, font, codeFont } = this;
		const used = codeFont.height <= bottom - top && fitsIn(canvas, codeFont, code) ? codeFont : font;
		const text = visibleText(code, (character) => canvas.getTextWidth(character, used));
		const width = Math.min(canvas.getTextWidth(text, used), canvas.width);
		const y = ((top + bottom) >> 1) - (used.height >> 1);
		canvas.drawText(text, used, this.colors.ink, (canvas.width - width) >> 1, y, width);
	}

	/** Draws a page of words: an alert on a panel, and under one of several pages a bar for the progress. */
	private drawWords(): void {
		const { canvas, brush, font, colors } = this;
		const { lines, number, count } = this.page;
		const alerts = lines.filter(({ isAlert }) => isAlert).length;
		let y = this.wordsTop;
		if (alerts > 0) {
			brush.color = this.face.state === "upgrading" ? colors.notice : colors.alert;
			const [width, height] = [canvas.width - 2 * ALERT_EDGE, alerts * font.height + 2 * ALERT_EDGE];
			brush.rounded(ALERT_EDGE, y - ALERT_EDGE, width, height, ALERT_CORNER);
		}
		for (const { text, isAlert } of lines) {
			if (brush.reaches(0, y, canvas.width, font.height)) {
				this.sent.drawText(brush, text, isAlert ? colors.onColor : colors.ink, MARGIN, y);
			}
			y += font.height;
		}
		if (count > 1) {
			const read = Math.round((canvas.width * (number + 1)) / count);
			canvas.fillRectangle(colors.accent, 0, canvas.height - PROGRESS_HEIGHT, read, PROGRESS_HEIGHT);
		}
	}
}

/** Whether a font has all characters of a code, and they fit on the screen. */
const fitsIn = (canvas: Canvas, font: Font, code: string): boolean => {
	const hasGlyphs = Array.from(code).every((character) => canvas.getTextWidth(character, font) > 0);
	return hasGlyphs && canvas.getTextWidth(code, font) <= canvas.width;
};
