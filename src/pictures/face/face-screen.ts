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
import { headerOf, isForPeople, wordsOf } from "./face-status.js";
import type { Measure } from "./line-breaks.js";
import { MovingFace } from "./moving-face.js";
import { SentGlyphs } from "./sent-glyphs.js";
import { drawSetup, type MakeQrCode, makeWiFiCode } from "./setup-drawing.js";
import { headerHeight, type Level, levelTop, MARGIN } from "./status-drawing.js";
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

/** Milliseconds that a level is shown after it was set. */
const LEVEL_TIME = 2_000;

/** Minimum time that an idle device shows the last message, ms; and the time from then until its face sleeps. */
const MESSAGE_TIME = 30_000;
const WAKE_TIME = 90_000;

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
	private readonly dirty: Dirty = { all: true, header: false, face: false, words: false, level: false };
	private face = BLANK_FACE;
	private look: Look = lookOf(BLANK_FACE.emotion);
	private _theme: Theme = "light";
	/** Percent, as the user has set it. */
	private _brightness = 75;
	/** Percent of the brightness: less while the screen is dimmed. */
	private _light = 100;
	/** Whether the screen is left to something else. */
	isCovered = false;
	private isAsleep = false;
	private drawing: TimerHandle | undefined;
	/** Runs until the face of an idle device forgets the message, and then until it sleeps. */
	private resting: TimerHandle | undefined;
	private level: Level | undefined;
	private levelTimer: TimerHandle | undefined;

	constructor(options: FaceScreenOptions) {
		this.options = options;
		this.canvas = options.canvas;
		this.width = options.canvas.width;
		this.height = options.canvas.height;
		this.painter = new FacePainter(options.canvas, this.fonts);
		const { timer } = options;
		this.pages = new TurningPages(timer, () => this.redraw("words"));
		this.moving = new MovingFace({
			timer,
			place: () => (this.isSeen ? placeOf(this.canvas, options.font, this.wordsTop) : undefined),
			paint: (part) => this.paintFace(part),
		});
		if (options.charset !== undefined) {
			const take = (push: unknown): void => {
				// A text on the screen may have boxes for the new glyphs.
				if (this.sent.take(push) && this.pages.shown.count > 0) {
					this.layOut();
				}
			};
			this.glyphs = { font: SentGlyphs.fontOf(options.charset), take };
		}
		try {
			this.lightUp(this.brightness, this.light);
		} catch {
			// The backlight stays as it is until the next change.
			this.redraw("all");
		}
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		if (brightness !== this._brightness) {
			this.lightUp(brightness, this.light);
			if (this.face.state !== BLANK_FACE.state) {
				this.showLevel({ of: "brightness", percent: brightness });
			}
		}
	}

	get light(): number {
		return this._light;
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
		if (this.isCovered && (alert.status + alert.message + code !== "" || setup !== undefined)) {
			this.uncover();
		}
		if (old.code !== this.face.code || setup !== undefined || old.setup !== undefined) {
			this.redraw("all");
		}
		if (headerOf(old) !== headerOf(this.face)) {
			this.redraw("header");
		}
		if (old.volume !== undefined && change.volume !== undefined && change.volume !== old.volume) {
			this.showLevel({ of: "volume", percent: change.volume });
		}
		if (wordsOf(old) !== wordsOf(this.face) || (change.message !== undefined && this.pages.shown.count === 0)) {
			this.layOut();
		}
		if (change.message !== undefined || isForPeople(old, this.face)) {
			this.wake();
		}
	}

	/** Leaves the screen to a picture, until {@link uncover}, or until there is an alert or a code to show. */
	cover(): void {
		this.isCovered = true;
	}

	/** Shows the face again. */
	uncover(): void {
		this.isCovered = false;
		this.redraw("all");
	}

	/** Draws no more. */
	close(): void {
		const { timer } = this.options;
		for (const handle of [this.drawing, this.resting, this.levelTimer]) {
			timer.clear(handle);
		}
		this.pages.close();
		this.moving.close();
	}

	/** @returns draws the face as it is now, whenever it is called */
	keep(): (canvas: Canvas) => void {
		const { font, makeQrCode } = this.options;
		const picture = { ...this.picture(), pose: { ...this.moving.pose } };
		const { setup } = picture.face;
		if (setup === undefined) {
			return (canvas) => {
				const { width, height } = canvas;
				new FacePainter(canvas, this.fonts).paint(picture, { x: 0, y: 0, width, height });
			};
		}
		const code = makeQrCode && makeWiFiCode(makeQrCode, setup);
		return (canvas) => drawSetup(canvas, font, { ...picture, setup }, code);
	}

	private get fonts(): Fonts {
		const { font, codeFont = font } = this.options;
		return { font, codeFont, sent: this.sent };
	}

	private picture(): FacePicture {
		return {
			face: this.face,
			look: this.look,
			pose: this.moving.pose,
			page: this.pages.shown,
			theme: this._theme,
			dim: this.options.backlight === undefined ? lit(this._brightness, this._light) : 100,
			level: this.level,
		};
	}

	/** @throws Error if the backlight does not answer: nothing has changed then */
	private lightUp(brightness: number, light: number): void {
		const { backlight } = this.options;
		const wasDark = backlight?.brightness === 0;
		if (backlight !== undefined) {
			backlight.brightness = lit(brightness, light);
		}
		this._brightness = brightness;
		this._light = light;
		// The colours have changed, or nothing was drawn in the dark.
		if (wasDark || backlight === undefined) {
			this.redraw("all");
		}
	}

	private showLevel(level: Level): void {
		const { timer } = this.options;
		this.level = level;
		this.redraw("level");
		timer.clear(this.levelTimer);
		this.levelTimer = timer.set(() => {
			this.levelTimer = undefined;
			this.level = undefined;
			this.redraw("level");
		}, LEVEL_TIME);
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

	/** Wakes the face, and restarts the time until it rests. */
	private wake(): void {
		const { timer } = this.options;
		const { state, code, setup, alert } = this.face;
		this.isAsleep = false;
		timer.clear(this.resting);
		this.resting = undefined;
		this.follow();
		if (state === "idle" && code === "" && setup === undefined && alert.status + alert.message === "") {
			this.resting = timer.set(() => this.rest(), Math.max(MESSAGE_TIME, 2 * this.pages.readingTime));
		}
	}

	/** Forgets the message, and falls asleep later. */
	private rest(): void {
		if (this.wordsTop < this.canvas.height) {
			this.redraw("all");
		}
		this.pages.show([]);
		this.resting = this.options.timer.set(() => {
			this.resting = undefined;
			this.isAsleep = true;
			this.follow();
		}, WAKE_TIME);
	}

	/** Updates the look and the motion of the face. */
	private follow(): void {
		const { isAsleep } = this;
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

	private get isSeen(): boolean {
		const { setup, code } = this.face;
		return !this.isCovered && !this.isDark && setup === undefined && code === "";
	}

	private get isDark(): boolean {
		return this._light === 0 && this.options.backlight !== undefined;
	}

	private draw(): void {
		if (this.isCovered || this.isDark) {
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

/** Rounded up: a dimmed screen is not off. */
const lit = (brightness: number, percent: number): number => Math.ceil((brightness * percent) / 100);
