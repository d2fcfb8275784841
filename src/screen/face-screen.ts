import {
	type Backlight,
	BLANK_FACE,
	type Face,
	type Glyphs,
	type Screen,
	type Theme,
	type TimerHandle,
	type TimerModule,
} from "../hardware/hardware.js";
import type { Canvas, Font } from "./brush.js";
import { lookOf } from "./emotions.js";
import { mix } from "./face-colors.js";
import { ALERT_EDGE, FacePainter } from "./face-drawing.js";
import { FaceMotion } from "./face-motion.js";
import { SentGlyphs } from "./sent-glyphs.js";
import { drawSetup, type MakeQrCode, makeWiFiCode } from "./setup-drawing.js";
import { headerHeight, headerOf, isForPeople, type Level, levelTop, MARGIN, wordsOf } from "./status-drawing.js";
import { layOutPages, TurningPages } from "./text-pages.js";

interface FaceScreenOptions {
	readonly canvas: Canvas;
	readonly font: Font;
	/** A large font, for a code that the person types in. Default: the font. */
	readonly codeFont?: Font;
	/** The glyph set of the font. Default: undefined, and a backend may not send glyphs for other characters. */
	readonly charset?: string | undefined;
	/** Default: the set-up is shown in words only. */
	readonly makeQrCode?: MakeQrCode;
	/** Default: brightness changes the colours. */
	readonly backlight?: Backlight;
	readonly timer: TimerModule;
}

/** Milliseconds for which changes are collected before they are drawn together. */
const DRAW_DELAY = 30;

/** Milliseconds that a level is shown after it was set. */
const LEVEL_TIME = 2_000;

/** Minimum time that an idle device shows the last message, and the time from then until its face sleeps, ms. */
const MESSAGE_TIME = 30_000;
const WAKE_TIME = 90_000;

/** Parts of the screen that are redrawn: all of it, or some rows. */
type Part = "all" | "header" | "face" | "words" | "level";

/** A screen that shows the device's animated face: emotions, spoken text, and information for people. */
export class FaceScreen implements Screen {
	readonly width: number;
	readonly height: number;
	readonly monochrome = false;
	readonly canvas: Canvas;
	readonly glyphs?: Glyphs;
	/** Whether the screen shows a picture instead. */
	isCovered = false;
	private readonly options: FaceScreenOptions;
	private readonly painter: FacePainter;
	private readonly motion: FaceMotion;
	private readonly pages: TurningPages;
	private readonly dirty = new Set<Part>(["all"]);
	private _theme: Theme = "light";
	/** Percent, as the user has set it. */
	private _brightness = 75;
	/** Percent of the brightness: below 100 while the screen is dimmed. */
	private _light = 100;
	private isAsleep = false;
	private drawing: TimerHandle | undefined;
	/** Runs until the face of an idle device forgets the message, and then until it sleeps. */
	private resting: TimerHandle | undefined;
	private levelTimer: TimerHandle | undefined;

	constructor(options: FaceScreenOptions) {
		const { canvas, font, codeFont = font, charset, timer } = options;
		this.options = options;
		this.canvas = canvas;
		this.width = canvas.width;
		this.height = canvas.height;
		this.painter = new FacePainter(canvas, font, codeFont);
		this.pages = new TurningPages(timer, () => this.showPage());
		this.motion = new FaceMotion(timer, this.painter, () => this.isSeen);
		if (charset !== undefined) {
			const take = (push: unknown): void => {
				// A text on the screen may have boxes for the new glyphs.
				if (this.painter.sent.take(push) && this.pages.shown.count > 0) {
					this.layOut();
				}
			};
			this.glyphs = { font: SentGlyphs.fontOf(charset), take };
		}
		try {
			this.lightUp(this.brightness, this.light);
		} catch {
			// The backlight keeps its state until the next change.
			this.redraw("all");
		}
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		if (brightness !== this._brightness) {
			this.lightUp(brightness, this.light);
			if (this.painter.face.state !== BLANK_FACE.state) {
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
			this.mixColors();
		}
	}

	show(change: Partial<Face>): void {
		const old = this.painter.face;
		const face = { ...old, ...change };
		this.painter.face = face;
		const { alert = { status: "", message: "" }, code = "", setup } = change;
		if (this.isCovered && (alert.status + alert.message + code !== "" || setup !== undefined)) {
			this.uncover();
		}
		if (old.code !== face.code || setup !== undefined || old.setup !== undefined) {
			this.redraw("all");
		}
		if (headerOf(old) !== headerOf(face)) {
			this.redraw("header");
		}
		if (old.volume !== undefined && change.volume !== undefined && change.volume !== old.volume) {
			this.showLevel({ of: "volume", percent: change.volume });
		}
		if (wordsOf(old) !== wordsOf(face) || (change.message !== undefined && this.pages.shown.count === 0)) {
			this.layOut();
		}
		if (change.message !== undefined || isForPeople(old, face)) {
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

	/** Stops drawing. */
	close(): void {
		const { timer } = this.options;
		for (const handle of [this.drawing, this.resting, this.levelTimer]) {
			timer.clear(handle);
		}
		this.pages.close();
		this.motion.stop();
	}

	/** Draws the changes at once, without the delay. */
	draw(): void {
		const { painter, dirty, canvas } = this;
		const { setup } = painter.face;
		if (this.isCovered || this.isDark) {
			return;
		}
		if (setup !== undefined) {
			const { makeQrCode } = this.options;
			drawSetup(painter, painter.face, setup, makeQrCode && makeWiFiCode(makeQrCode, setup));
		} else {
			const [top, bottom] = [headerHeight(painter.font), painter.wordsTop];
			const rows: Readonly<Record<Part, readonly [from: number, to: number]>> = {
				all: [0, this.height],
				header: [0, top],
				face: [top, bottom],
				words: [bottom - ALERT_EDGE, this.height],
				level: [levelTop(canvas), this.height],
			};
			for (const part of dirty.has("all") ? (["all"] as const) : dirty) {
				painter.paint(0, rows[part][0], this.width, rows[part][1]);
			}
		}
		dirty.clear();
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
		if (backlight === undefined) {
			this.mixColors();
		} else if (wasDark) {
			// Nothing was drawn in the dark.
			this.redraw("all");
		}
	}

	private mixColors(): void {
		const dim = this.options.backlight === undefined ? lit(this._brightness, this._light) : 100;
		this.painter.colors = mix(this.canvas, this._theme, dim);
		this.redraw("all");
	}

	private showLevel(level: Level): void {
		const { timer } = this.options;
		this.painter.level = level;
		this.redraw("level");
		timer.clear(this.levelTimer);
		this.levelTimer = timer.set(() => {
			this.painter.level = undefined;
			this.redraw("level");
		}, LEVEL_TIME);
	}

	private layOut(): void {
		const { painter, canvas } = this;
		const room = { width: canvas.width - 2 * MARGIN, lines: painter.linesOfWords };
		this.pages.show(layOutPages(painter.face, room, (character) => painter.sent.measure(character)));
		this.showPage();
	}

	/** Shows the current page of words. */
	private showPage(): void {
		const { painter } = this;
		const top = painter.wordsTop;
		painter.showPage(this.pages.shown);
		this.redraw(top === painter.wordsTop ? "words" : "all");
	}

	/** Wakes the face, and restarts the time until it rests. */
	private wake(): void {
		const { timer } = this.options;
		const { state, code, setup, alert } = this.painter.face;
		this.isAsleep = false;
		timer.clear(this.resting);
		this.follow();
		if (state === "idle" && code === "" && setup === undefined && alert.status + alert.message === "") {
			this.resting = timer.set(() => this.rest(), Math.max(MESSAGE_TIME, 2 * this.pages.readingTime));
		}
	}

	/** Forgets the message, and falls asleep later. */
	private rest(): void {
		if (this.pages.shown.lines.length > 0) {
			this.pages.show([]);
			this.showPage();
		}
		this.resting = this.options.timer.set(() => {
			this.isAsleep = true;
			this.follow();
		}, WAKE_TIME);
	}

	/** Updates the look and the motion of the face. */
	private follow(): void {
		const { isAsleep, painter } = this;
		const look = lookOf(isAsleep ? "sleepy" : painter.face.emotion);
		if (JSON.stringify(look) !== JSON.stringify(painter.look)) {
			painter.look = look;
			this.redraw("face");
		}
		const activity = painter.face.state === "speaking" ? "speaking" : "still";
		this.motion.follow(isAsleep ? "sleeping" : activity);
	}

	private redraw(part: Part): void {
		this.dirty.add(part);
		this.drawing ??= this.options.timer.set(() => {
			this.drawing = undefined;
			this.draw();
			this.motion.start();
		}, DRAW_DELAY);
	}

	private get isSeen(): boolean {
		const { setup, code } = this.painter.face;
		return !this.isCovered && !this.isDark && setup === undefined && code === "";
	}

	private get isDark(): boolean {
		return this._light === 0 && this.options.backlight !== undefined;
	}
}

/** Rounded up: a dimmed screen is not off. */
const lit = (brightness: number, percent: number): number => Math.ceil((brightness * percent) / 100);
