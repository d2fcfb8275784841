import {
	type Backlight,
	BLANK_FACE,
	type Face,
	type Glyphs,
	type Screen,
	type Theme,
} from "../../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../../hardware/timer.js";
import type { Canvas, Font } from "./brush.js";
import { type Look, lookOf } from "./emotions.js";
import {
	ALERT_EDGE,
	FacePainter,
	type FacePicture,
	type Fonts,
	linesOfWords,
	placeOf,
	type Rectangle,
	wordsTop,
} from "./face-drawing.js";
import { type Area, extraArea, LEFT_EYE_AREA, MOUTH_AREA, type Pose, RIGHT_EYE_AREA } from "./face-features.js";
import { FaceMotion, REST } from "./face-motion.js";
import { headerOf, isForPeople, wordsOf } from "./face-status.js";
import type { Measure } from "./line-breaks.js";
import { SentGlyphs } from "./sent-glyphs.js";
import { drawSetup, type MakeQrCode, makeWiFiCode } from "./setup-drawing.js";
import { headerHeight, type Level, levelTop, MARGIN } from "./status-drawing.js";
import { layOutPages } from "./text-pages.js";
import { TurningPages } from "./turning-pages.js";

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

/** Milliseconds that changes are gathered before they are drawn, so that many at once cost one drawing. */
const DRAW_DELAY = 30;

/** Milliseconds that a level is shown after it was set. */
const LEVEL_TIME = 2_000;

/** Milliseconds that an idle device shows what was said last, at least, and then stays awake. */
const MESSAGE_TIME = 30_000;
const WAKE_TIME = 90_000;

/** What has to be drawn again. */
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
	readonly #sent = new SentGlyphs();
	readonly #options: FaceScreenOptions;
	readonly #painter: FacePainter;
	readonly #motion = new FaceMotion();
	/** What is said. */
	readonly #pages: TurningPages;
	/** As it was drawn. */
	readonly #drawn: Pose = { ...REST };
	readonly #dirty: Dirty = { all: true, header: false, face: false, words: false, level: false };
	#face = BLANK_FACE;
	#look: Look = lookOf(BLANK_FACE.emotion);
	#level: Level | undefined;
	#brightness = 75;
	#light = 100;
	#theme: Theme = "light";
	#isAsleep = false;
	/** Something else is on the screen. */
	#isCovered = false;
	#drawing: TimerHandle | undefined;
	#moving: TimerHandle | undefined;
	#levelling: TimerHandle | undefined;
	#resting: TimerHandle | undefined;

	constructor(options: FaceScreenOptions) {
		this.#options = options;
		this.canvas = options.canvas;
		this.width = options.canvas.width;
		this.height = options.canvas.height;
		this.#painter = new FacePainter(options.canvas, this.#fonts);
		this.#pages = new TurningPages(options.timer, () => this.#redraw("words"));
		if (options.charset !== undefined) {
			this.glyphs = { font: SentGlyphs.fontOf(options.charset), take: (push) => this.#takeGlyphs(push) };
		}
		this.#lightUp();
	}

	get brightness(): number {
		return this.#brightness;
	}

	set brightness(brightness: number) {
		if (brightness !== this.#brightness) {
			this.#brightness = brightness;
			if (this.#face.state !== BLANK_FACE.state) {
				this.#showLevel({ of: "brightness", percent: brightness });
			}
			this.#lightUp();
		}
	}

	get light(): number {
		return this.#light;
	}

	set light(percent: number) {
		this.#light = percent;
		this.#lightUp();
	}

	get theme(): Theme {
		return this.#theme;
	}

	set theme(theme: Theme) {
		if (theme !== this.#theme) {
			this.#theme = theme;
			this.#redraw("all");
		}
	}

	show(change: Partial<Face>): void {
		const old = this.#face;
		this.#face = { ...old, ...change };
		const { alert = { status: "", message: "" }, code = "", setup } = change;
		if (this.#isCovered && (alert.status + alert.message + code !== "" || setup !== undefined)) {
			this.uncover();
		}
		if (old.code !== this.#face.code || setup !== undefined || old.setup !== undefined) {
			this.#redraw("all");
		}
		if (headerOf(old) !== headerOf(this.#face)) {
			this.#redraw("header");
		}
		if (old.volume !== undefined && change.volume !== undefined && change.volume !== old.volume) {
			this.#showLevel({ of: "volume", percent: change.volume });
		}
		if (wordsOf(old) !== wordsOf(this.#face) || (change.message !== undefined && this.#pages.shown.count === 0)) {
			this.#layOut();
		}
		if (change.message !== undefined || isForPeople(old, this.#face)) {
			this.#wake();
		}
	}

	/** Whether the screen is left to something else. */
	get isCovered(): boolean {
		return this.#isCovered;
	}

	/** Leaves the screen to a picture, until {@link uncover}, or until there is an alert or a code to show. */
	cover(): void {
		this.#isCovered = true;
	}

	/** Shows the face again. */
	uncover(): void {
		this.#isCovered = false;
		this.#redraw("all");
	}

	/** Draws no more. */
	close(): void {
		const { timer } = this.#options;
		this.#pages.close();
		for (const handle of [this.#drawing, this.#moving, this.#levelling, this.#resting]) {
			timer.clear(handle);
		}
	}

	/** @returns draws the face as it is now, whenever it is called */
	keep(): (canvas: Canvas) => void {
		const { font, makeQrCode } = this.#options;
		const picture = { ...this.#picture(), pose: { ...this.#motion.pose } };
		const { setup } = picture.face;
		if (setup === undefined) {
			return (canvas) => new FacePainter(canvas, this.#fonts).paint(picture, wholeOf(canvas));
		}
		const code = makeQrCode && makeWiFiCode(makeQrCode, setup);
		return (canvas) => drawSetup(canvas, font, { ...picture, setup }, code);
	}

	get #fonts(): Fonts {
		const { font, codeFont = font } = this.#options;
		return { font, codeFont, sent: this.#sent };
	}

	/** A text that is shown may have boxes for them. */
	#takeGlyphs(push: unknown): void {
		if (this.#sent.take(push) && this.#pages.shown.count > 0) {
			this.#layOut();
		}
	}

	/** Percent: the brightness as far as the screen is lit. Rounded up: a dimmed screen is not off. */
	get #lit(): number {
		return Math.ceil((this.#brightness * this.#light) / 100);
	}

	/** Nobody sees what is drawn while the backlight is off. */
	get #isDark(): boolean {
		return this.#light === 0 && this.#options.backlight !== undefined;
	}

	#picture(): FacePicture {
		return {
			face: this.#face,
			look: this.#look,
			pose: this.#motion.pose,
			page: this.#pages.shown,
			theme: this.#theme,
			dim: this.#options.backlight === undefined ? this.#lit : 100,
			level: this.#level,
		};
	}

	#lightUp(): void {
		const { backlight } = this.#options;
		if (backlight === undefined || backlight.brightness === 0) {
			// The colours have changed, or nothing was drawn in the dark.
			this.#redraw("all");
		}
		if (backlight !== undefined) {
			backlight.brightness = this.#lit;
		}
	}

	#showLevel(level: Level): void {
		const { timer } = this.#options;
		this.#level = level;
		this.#redraw("level");
		timer.clear(this.#levelling);
		this.#levelling = timer.set(() => {
			this.#levelling = undefined;
			this.#level = undefined;
			this.#redraw("level");
		}, LEVEL_TIME);
	}

	#layOut(): void {
		const { canvas, font } = this.#options;
		const room = { width: canvas.width - 2 * MARGIN, lines: linesOfWords(canvas, font) };
		const top = this.#wordsTop;
		const measure: Measure = (character) => canvas.getTextWidth(character, font) || this.#sent.widthOf(character);
		this.#pages.show(layOutPages(this.#face, room, measure));
		this.#redraw(top === this.#wordsTop ? "words" : "all");
	}

	get #wordsTop(): number {
		return wordsTop(this.canvas, this.#options.font, this.#pages.shown);
	}

	/** Somebody may look: the face is awake, and the time until it rests begins anew. */
	#wake(): void {
		this.#isAsleep = false;
		this.#follow();
		const { timer } = this.#options;
		timer.clear(this.#resting);
		this.#resting = undefined;
		if (this.#isIdle) {
			this.#resting = timer.set(() => this.#forget(), Math.max(MESSAGE_TIME, 2 * this.#pages.readingTime));
		}
	}

	get #isIdle(): boolean {
		const { state, code, setup, alert } = this.#face;
		return state === "idle" && code === "" && setup === undefined && alert.status + alert.message === "";
	}

	/** What was said has been read. */
	#forget(): void {
		const { timer } = this.#options;
		if (this.#wordsTop < this.canvas.height) {
			this.#redraw("all");
		}
		this.#pages.show([]);
		this.#resting = timer.set(() => {
			this.#resting = undefined;
			this.#isAsleep = true;
			this.#follow();
		}, WAKE_TIME);
	}

	/** The look and the motion that the face has now. */
	#follow(): void {
		const emotion = this.#isAsleep ? "sleepy" : this.#face.emotion;
		const look = lookOf(emotion);
		if (JSON.stringify(look) !== JSON.stringify(this.#look)) {
			this.#look = look;
			this.#redraw("face");
		}
		const motion = this.#motion;
		const wasStill = motion.activity !== "speaking";
		motion.activity = this.#isAsleep ? "sleeping" : this.#face.state === "speaking" ? "speaking" : "still";
		motion.hasSteps = look.extra !== "" && look.extra !== "glasses" && look.extra !== "question";
		if (wasStill && motion.activity === "speaking") {
			this.#stopMoving();
		}
		this.#moveLater();
	}

	#redraw(part: keyof Dirty): void {
		this.#dirty[part] = true;
		this.#drawing ??= this.#options.timer.set(() => {
			this.#drawing = undefined;
			this.#draw();
			this.#moveLater();
		}, DRAW_DELAY);
	}

	/** Whether there is a face to see. */
	get #isSeen(): boolean {
		const { setup, code } = this.#face;
		return !this.#isCovered && !this.#isDark && setup === undefined && code === "";
	}

	#draw(): void {
		if (this.#isCovered || this.#isDark) {
			return;
		}
		const dirty = this.#dirty;
		if (this.#face.setup !== undefined) {
			this.keep()(this.canvas);
		} else {
			this.#paintDirty(dirty);
		}
		dirty.all = dirty.header = dirty.face = dirty.words = dirty.level = false;
	}

	#paintDirty({ all, header, face, words, level }: Dirty): void {
		const { width, height } = this;
		const top = headerHeight(this.#options.font);
		const bottom = this.#wordsTop;
		const picture = this.#picture();
		const paint = (y: number, end: number): void => {
			if (y < end) {
				this.#painter.paint(picture, { x: 0, y, width, height: end - y });
			}
		};
		if (all || face) {
			Object.assign(this.#drawn, this.#motion.pose);
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

	#stopMoving(): void {
		this.#options.timer.clear(this.#moving);
		this.#moving = undefined;
	}

	#moveLater(): void {
		const { wait } = this.#motion;
		if (!this.#isSeen || placeOf(this.canvas, this.#options.font, this.#wordsTop) === undefined) {
			this.#stopMoving();
		} else {
			this.#moving ??= this.#options.timer.set(() => {
				this.#moving = undefined;
				this.#move(wait);
				this.#moveLater();
			}, wait);
		}
	}

	/** Draws again what has moved: an eye, the mouth. */
	#move(time: number): void {
		const place = placeOf(this.canvas, this.#options.font, this.#wordsTop);
		if (!this.#isSeen || place === undefined) {
			return;
		}
		const motion = this.#motion;
		motion.unit = place.unit;
		motion.pass(time);
		const drawn = this.#drawn;
		const { pose } = motion;
		const hasSteps = motion.hasSteps && pose.step !== drawn.step;
		const bobs = pose.bob !== drawn.bob;
		const look = pose.open !== drawn.open || pose.gazeX !== drawn.gazeX || pose.gazeY !== drawn.gazeY;
		const picture = this.#picture();
		const paint = ({ x, y, width, height }: Area): void => {
			const left = Math.max(0, Math.floor(place.x + x * place.unit));
			const top = Math.max(0, Math.floor(place.y + y * place.unit));
			const right = Math.min(this.width, Math.ceil(place.x + (x + width) * place.unit));
			const bottom = Math.min(this.#wordsTop, Math.ceil(place.y + (y + height) * place.unit));
			this.#painter.paint(picture, { x: left, y: top, width: right - left, height: bottom - top });
		};
		if (hasSteps) {
			paint(extraArea(this.#look.extra));
		}
		if (bobs || look) {
			paint(LEFT_EYE_AREA);
			paint(RIGHT_EYE_AREA);
		}
		if (bobs || pose.talk !== drawn.talk) {
			paint(MOUTH_AREA);
		}
		Object.assign(drawn, pose);
	}
}

function wholeOf({ width, height }: Canvas): Rectangle {
	return { x: 0, y: 0, width, height };
}
