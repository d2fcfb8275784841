import {
	type Backlight,
	BLANK_FACE,
	type Face,
	type Glyphs,
	type Screen,
	type Theme,
} from "../../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../../hardware/timer.js";
import type { Canvas, Font, Rectangle } from "./brush.js";
import { type Look, lookOf } from "./emotions.js";
import {
	ALERT_EDGE,
	FacePainter,
	type FacePicture,
	type Fonts,
	linesOfWords,
	placeOf,
	wordsTop,
} from "./face-drawing.js";
import { FaceRest } from "./face-rest.js";
import { headerOf, isForPeople, wordsOf } from "./face-status.js";
import type { Measure } from "./line-breaks.js";
import { MovingFace } from "./moving-face.js";
import { PassingLevel } from "./passing-level.js";
import { ScreenLight } from "./screen-light.js";
import { SentGlyphs } from "./sent-glyphs.js";
import { drawSetup, type MakeQrCode, makeWiFiCode } from "./setup-drawing.js";
import { headerHeight, levelTop, MARGIN } from "./status-drawing.js";
import { layOutPages, TurningPages } from "./text-pages.js";

interface FaceScreenOptions {
	readonly canvas: Canvas;
	readonly font: Font;
	/** A large font, for a code that the person types in. Default: the font. */
	readonly codeFont?: Font;
	/** The characters that the font has: the build's glyph set. Default: a backend may send no glyphs for others. */
	readonly charset?: string | undefined;
	/** Default: the set-up is shown in words only. */
	readonly makeQrCode?: MakeQrCode;
	/** A screen without one shows its brightness in its colours. */
	readonly backlight?: Backlight;
	readonly timer: TimerModule;
}

/** Milliseconds for which changes are collected before they are drawn together. */
const DRAW_DELAY = 30;

/** The parts that have to be drawn again. */
interface Dirty {
	all: boolean;
	header: boolean;
	face: boolean;
	words: boolean;
	level: boolean;
}

/** A screen that shows the device's face: its feelings, what is said, what a person should know. It moves by itself. */
export class FaceScreen implements Screen {
	readonly width: number;
	readonly height: number;
	readonly monochrome = false;
	readonly canvas: Canvas;
	readonly glyphs?: Glyphs;
	private readonly sent = new SentGlyphs();
	private readonly options: FaceScreenOptions;
	private readonly painter: FacePainter;
	private readonly moving: MovingFace;
	private readonly pages: TurningPages;
	private readonly level: PassingLevel;
	private readonly _light: ScreenLight;
	private readonly rest: FaceRest;
	private readonly dirty: Dirty = { all: true, header: false, face: false, words: false, level: false };
	private face = BLANK_FACE;
	private look: Look = lookOf(BLANK_FACE.emotion);
	private _theme: Theme = "light";
	/** Something else is on the screen. */
	private _isCovered = false;
	private drawing: TimerHandle | undefined;

	constructor(options: FaceScreenOptions) {
		this.options = options;
		this.canvas = options.canvas;
		this.width = options.canvas.width;
		this.height = options.canvas.height;
		this.painter = new FacePainter(options.canvas, this.fonts);
		const { timer } = options;
		this.pages = new TurningPages(timer, () => this.redraw("words"));
		this.level = new PassingLevel(timer, () => this.redraw("level"));
		this._light = new ScreenLight(options.backlight);
		this.rest = new FaceRest({ timer, onRead: () => this.forget(), onAsleep: () => this.follow() });
		this.moving = new MovingFace({
			timer,
			place: () => (this.isSeen ? placeOf(this.canvas, options.font, this.wordsTop) : undefined),
			paint: (part) => this.paintFace(part),
		});
		if (options.charset !== undefined) {
			this.glyphs = { font: SentGlyphs.fontOf(options.charset), take: (push) => this.takeGlyphs(push) };
		}
		try {
			this.lightUp(this.brightness, this.light);
		} catch {
			// The backlight stays as it is until the next change.
			this.redraw("all");
		}
	}

	get brightness(): number {
		return this._light.brightness;
	}

	set brightness(brightness: number) {
		if (brightness !== this._light.brightness) {
			this.lightUp(brightness, this.light);
			if (this.face.state !== BLANK_FACE.state) {
				this.level.show({ of: "brightness", percent: brightness });
			}
		}
	}

	get light(): number {
		return this._light.percent;
	}

	set light(percent: number) {
		this.lightUp(this.brightness, percent);
	}

	get theme(): Theme {
		return this._theme;
	}

	set theme(theme: Theme) {
		if (theme !== this._theme) {
			this._theme = theme;
			this.redraw("all");
		}
	}

	show(change: Partial<Face>): void {
		const old = this.face;
		this.face = { ...old, ...change };
		const { alert = { status: "", message: "" }, code = "", setup } = change;
		if (this._isCovered && (alert.status + alert.message + code !== "" || setup !== undefined)) {
			this.uncover();
		}
		if (old.code !== this.face.code || setup !== undefined || old.setup !== undefined) {
			this.redraw("all");
		}
		if (headerOf(old) !== headerOf(this.face)) {
			this.redraw("header");
		}
		if (old.volume !== undefined && change.volume !== undefined && change.volume !== old.volume) {
			this.level.show({ of: "volume", percent: change.volume });
		}
		if (wordsOf(old) !== wordsOf(this.face) || (change.message !== undefined && this.pages.shown.count === 0)) {
			this.layOut();
		}
		if (change.message !== undefined || isForPeople(old, this.face)) {
			this.wake();
		}
	}

	/** Whether the screen is left to something else. */
	get isCovered(): boolean {
		return this._isCovered;
	}

	/** Leaves the screen to a picture, until {@link uncover}, or until there is an alert or a code to show. */
	cover(): void {
		this._isCovered = true;
	}

	/** Shows the face again. */
	uncover(): void {
		this._isCovered = false;
		this.redraw("all");
	}

	/** Draws no more. */
	close(): void {
		this.options.timer.clear(this.drawing);
		for (const part of [this.pages, this.level, this.rest, this.moving]) {
			part.close();
		}
	}

	/** @returns draws the face as it is now, whenever it is called */
	keep(): (canvas: Canvas) => void {
		const { font, makeQrCode } = this.options;
		const picture = { ...this.picture(), pose: { ...this.moving.pose } };
		const { setup } = picture.face;
		if (setup === undefined) {
			return (canvas) => new FacePainter(canvas, this.fonts).paint(picture, wholeOf(canvas));
		}
		const code = makeQrCode && makeWiFiCode(makeQrCode, setup);
		return (canvas) => drawSetup(canvas, font, { ...picture, setup }, code);
	}

	private get fonts(): Fonts {
		const { font, codeFont = font } = this.options;
		return { font, codeFont, sent: this.sent };
	}

	/** A text that is shown may have boxes for them. */
	private takeGlyphs(push: unknown): void {
		if (this.sent.take(push) && this.pages.shown.count > 0) {
			this.layOut();
		}
	}

	private picture(): FacePicture {
		return {
			face: this.face,
			look: this.look,
			pose: this.moving.pose,
			page: this.pages.shown,
			theme: this._theme,
			dim: this._light.ofColours,
			level: this.level.shown,
		};
	}

	private lightUp(brightness: number, percent: number): void {
		if (this._light.set(brightness, percent)) {
			this.redraw("all");
		}
	}

	private layOut(): void {
		const { canvas, font } = this.options;
		const room = { width: canvas.width - 2 * MARGIN, lines: linesOfWords(canvas, font) };
		const top = this.wordsTop;
		const measure: Measure = (character) => canvas.getTextWidth(character, font) || this.sent.widthOf(character);
		this.pages.show(layOutPages(this.face, room, measure));
		this.redraw(top === this.wordsTop ? "words" : "all");
	}

	private get wordsTop(): number {
		return wordsTop(this.canvas, this.options.font, this.pages.shown);
	}

	/** A person may look: the face is awake, and the time until it rests starts again. */
	private wake(): void {
		this.rest.wake();
		this.follow();
		if (this.isIdle) {
			this.rest.begin(this.pages.readingTime);
		}
	}

	private get isIdle(): boolean {
		const { state, code, setup, alert } = this.face;
		return state === "idle" && code === "" && setup === undefined && alert.status + alert.message === "";
	}

	/** The message has been read. */
	private forget(): void {
		if (this.wordsTop < this.canvas.height) {
			this.redraw("all");
		}
		this.pages.show([]);
	}

	/** The look and the motion that the face has now. */
	private follow(): void {
		const { isAsleep } = this.rest;
		const look = lookOf(isAsleep ? "sleepy" : this.face.emotion);
		if (JSON.stringify(look) !== JSON.stringify(this.look)) {
			this.look = look;
			this.redraw("face");
		}
		const activity = this.face.state === "speaking" ? "speaking" : "still";
		this.moving.follow(isAsleep ? "sleeping" : activity, look);
	}

	private redraw(part: keyof Dirty): void {
		this.dirty[part] = true;
		this.drawing ??= this.options.timer.set(() => {
			this.drawing = undefined;
			this.draw();
			this.moving.moveLater();
		}, DRAW_DELAY);
	}

	/** Whether there is a face to see. */
	private get isSeen(): boolean {
		const { setup, code } = this.face;
		return !this._isCovered && !this._light.isDark && setup === undefined && code === "";
	}

	private draw(): void {
		if (this._isCovered || this._light.isDark) {
			return;
		}
		const dirty = this.dirty;
		if (this.face.setup !== undefined) {
			this.keep()(this.canvas);
		} else {
			this.paintDirty(dirty);
		}
		dirty.all = dirty.header = dirty.face = dirty.words = dirty.level = false;
	}

	private paintDirty({ all, header, face, words, level }: Dirty): void {
		const { width, height } = this;
		const top = headerHeight(this.options.font);
		const bottom = this.wordsTop;
		const picture = this.picture();
		const paint = (y: number, end: number): void => {
			if (y < end) {
				this.painter.paint(picture, { x: 0, y, width, height: end - y });
			}
		};
		if (all || face) {
			this.moving.drawn();
		}
		if (all) {
			paint(0, height);
			return;
		}
		if (header) {
			paint(0, top);
		}
		if (face) {
			paint(top, bottom);
		}
		if (words) {
			paint(bottom - ALERT_EDGE, height);
		}
		if (level) {
			paint(levelTop(this.canvas), height);
		}
	}

	/** Draws a part of the face, without the words below it. */
	private paintFace({ x, y, width, height }: Rectangle): void {
		const right = Math.min(this.width, x + width);
		const bottom = Math.min(this.wordsTop, y + height);
		this.painter.paint(this.picture(), { x, y, width: right - x, height: bottom - y });
	}
}

const wholeOf = ({ width, height }: Canvas): Rectangle => ({ x: 0, y: 0, width, height });
