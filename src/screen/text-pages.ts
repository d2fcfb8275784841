import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Face, TimerHandle, TimerModule } from "../hardware/hardware.js";
import { breakLines, type Measure, widthOf } from "./line-breaks.js";

/** A line of text. */
interface PageLine {
	readonly text: string;
	readonly isAlert: boolean;
}

/** A page of text: as much as a person reads at a time. */
interface Page {
	readonly lines: readonly PageLine[];
	/** Milliseconds that a person needs to read it. */
	readonly readingTime: number;
}

/** The page of words on the screen. */
export interface ShownPage {
	readonly lines: readonly PageLine[];
	/** Index of the page, and how many there are. */
	readonly number: number;
	readonly count: number;
}

/** The page of a face without words. */
export const NO_PAGE: ShownPage = deepFreeze({ lines: [], number: 0, count: 0 });

/** Milliseconds that a person needs to notice a new page. */
const FIND_TIME = 1_500;

/** Pixels of text that a person reads per second at 16 pixels of height: about 7 ideographs, or 14 letters. */
const READ_PIXELS = 110;

/**
 * Lays out an alert, and then the message, in pages to read one after the other. Returns at least one page, perhaps an
 * empty one.
 *
 * @param room pixels of a line, and lines of a page
 */
export const layOutPages = (
	{ message, alert }: Pick<Face, "message" | "alert">,
	room: { readonly width: number; readonly lines: number },
	measure: Measure,
): readonly Page[] => {
	const warning = [alert.status, alert.message].filter((text) => text !== "").join(": ");
	const linesOf = (text: string, isAlert: boolean): readonly PageLine[] =>
		breakLines(text, room.width, measure).map((line) => ({ text: line, isAlert }));
	const lines = [...linesOf(warning, true), ...linesOf(message, false)];
	const pages: Page[] = [];
	for (let first = 0; first < lines.length || first === 0; first += room.lines) {
		const shown = lines.slice(first, first + room.lines);
		const pixels = shown.reduce((sum, { text }) => sum + widthOf(text, measure), 0);
		pages.push({ lines: shown, readingTime: FIND_TIME + Math.round((pixels * 1000) / READ_PIXELS) });
	}
	return pages;
};

/** Shows the pages in turn, and then starts over, because nobody may have looked. */
export class TurningPages {
	/** The current page; it has no lines if there are no pages. */
	shown = NO_PAGE;
	private readonly timer: TimerModule;
	private readonly onTurn: () => void;
	private pages: readonly Page[] = [];
	private turning: TimerHandle | undefined;

	/** @param onTurn called when the next page is shown */
	constructor(timer: TimerModule, onTurn: () => void) {
		this.timer = timer;
		this.onTurn = onTurn;
	}

	/** Milliseconds that a person needs to read all of them. */
	get readingTime(): number {
		return this.pages.reduce((sum, { readingTime }) => sum + readingTime, 0);
	}

	/** Shows the first of these pages; without any, nothing. */
	show(pages: readonly Page[]): void {
		this.close();
		this.pages = pages;
		this.turnTo(0);
	}

	/** Stops turning pages. */
	close(): void {
		this.timer.clear(this.turning);
	}

	private turnTo(number: number): void {
		const { lines = [], readingTime = 0 } = this.pages[number] ?? {};
		const count = this.pages.length;
		this.shown = { lines, number, count };
		if (count > 1) {
			this.turning = this.timer.set(() => {
				this.turnTo((number + 1) % count);
				this.onTurn();
			}, readingTime);
		}
	}
}
