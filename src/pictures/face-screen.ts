import { type Backlight, BLANK_FACE, type Face, type Screen, type Theme } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import { type Canvas, drawFace, type Font, linesOfWords, MARGIN, type ShownPage } from "./face-drawing.js";
import { drawSetup, type MakeQrCode, makeWiFiCode } from "./setup-drawing.js";
import { layOutPages, type Page } from "./text-pages.js";

interface FaceScreenOptions {
	readonly canvas: Canvas;
	readonly font: Font;
	/** A large font, for a code that the person types in. Default: the font. */
	readonly codeFont?: Font;
	/** Default: the set-up is shown in words only. */
	readonly makeQrCode?: MakeQrCode;
	/** A screen without one shows its brightness in its colours. */
	readonly backlight?: Backlight;
	readonly timer: TimerModule;
}

/** Milliseconds that changes are gathered before they are drawn, so that many at once cost one drawing. */
const DRAW_DELAY = 30;

/** A screen that shows the device's face: its state, what is set, what is said. */
export class FaceScreen implements Screen {
	readonly width: number;
	readonly height: number;
	readonly monochrome = false;
	readonly canvas: Canvas;
	readonly #options: FaceScreenOptions;
	#face = BLANK_FACE;
	/** What is said, and which page of it is shown. */
	#pages: readonly Page[] = [];
	#page = 0;
	#turning: TimerHandle | undefined;
	#brightness = 75;
	#light = 100;
	#theme: Theme = "light";
	#drawing: TimerHandle | undefined;
	/** Something else is on the screen. */
	#isCovered = false;

	constructor(options: FaceScreenOptions) {
		this.#options = options;
		this.canvas = options.canvas;
		this.width = options.canvas.width;
		this.height = options.canvas.height;
		this.brightness = this.#brightness;
	}

	get brightness(): number {
		return this.#brightness;
	}

	set brightness(brightness: number) {
		this.#brightness = brightness;
		this.#lightUp();
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
		this.#theme = theme;
		this.#changed();
	}

	show(change: Partial<Face>): void {
		this.#face = { ...this.#face, ...change };
		if (change.message !== undefined || change.alert !== undefined) {
			this.#layOut();
		}
		const { alert = { status: "", message: "" }, code = "", setup } = change;
		if (alert.status + alert.message + code !== "" || setup !== undefined) {
			this.#isCovered = false;
		}
		this.#changed();
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
		this.#changed();
	}

	/** Draws no more. */
	close(): void {
		this.#options.timer.clear(this.#drawing);
		this.#options.timer.clear(this.#turning);
	}

	/** @returns draws the face as it is now, whenever it is called */
	keep(): (canvas: Canvas) => void {
		const { font, codeFont, makeQrCode, backlight } = this.#options;
		const dim = backlight === undefined ? this.#lit : 100;
		const picture = { ...this.#face, page: this.#shownPage(), theme: this.#theme, brightness: this.#brightness, dim };
		const { setup } = picture;
		if (setup === undefined) {
			return (canvas) => drawFace(canvas, font, picture, codeFont);
		}
		const code = makeQrCode && makeWiFiCode(makeQrCode, setup);
		return (canvas) => drawSetup(canvas, font, { ...picture, setup }, code);
	}

	/** Percent: the brightness as far as the screen is lit. Rounded up: a dimmed screen is not off. */
	get #lit(): number {
		return Math.ceil((this.#brightness * this.#light) / 100);
	}

	/** Nobody sees what is drawn while the backlight is off. */
	get #isDark(): boolean {
		return this.#light === 0 && this.#options.backlight !== undefined;
	}

	#lightUp(): void {
		if (this.#options.backlight !== undefined) {
			this.#options.backlight.brightness = this.#lit;
		}
		this.#changed();
	}

	#layOut(): void {
		const { canvas, font, timer } = this.#options;
		const room = { width: canvas.width - 2 * MARGIN, lines: linesOfWords(canvas, font) };
		this.#pages = layOutPages(this.#face, room, (character) => canvas.getTextWidth(character, font));
		this.#page = 0;
		timer.clear(this.#turning);
		this.#turnLater();
	}

	/** Shows page after page, and then the first again, because nobody may have looked. */
	#turnLater(): void {
		this.#turning = undefined;
		const page = this.#pages[this.#page];
		if (page !== undefined && this.#pages.length > 1) {
			this.#turning = this.#options.timer.set(() => {
				this.#page = (this.#page + 1) % this.#pages.length;
				this.#turnLater();
				this.#changed();
			}, page.readingTime);
		}
	}

	#shownPage(): ShownPage {
		return { lines: this.#pages[this.#page]?.lines ?? [], number: this.#page, count: this.#pages.length };
	}

	#changed(): void {
		this.#drawing ??= this.#options.timer.set(() => {
			this.#drawing = undefined;
			if (!this.#isCovered && !this.#isDark) {
				this.keep()(this.canvas);
			}
		}, DRAW_DELAY);
	}
}
