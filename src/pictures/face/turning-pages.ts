import type { TimerHandle, TimerModule } from "../../hardware/timer.js";
import type { ShownPage } from "./face-drawing.js";
import type { Page } from "./text-pages.js";

/** Shows page after page, and then the first again, because nobody may have looked. */
export class TurningPages {
	private readonly timer: TimerModule;
	private readonly onTurn: () => void;
	private pages: readonly Page[] = [];
	/** Index of the page that is shown. */
	private number = 0;
	private turning: TimerHandle | undefined;

	/** @param onTurn called when the next page is shown */
	constructor(timer: TimerModule, onTurn: () => void) {
		this.timer = timer;
		this.onTurn = onTurn;
	}

	/** The current page; it has no lines if there are no pages. */
	get shown(): ShownPage {
		return { lines: this.pages[this.number]?.lines ?? [], number: this.number, count: this.pages.length };
	}

	/** Milliseconds that a person needs to read all of them. */
	get readingTime(): number {
		return this.pages.reduce((sum, { readingTime }) => sum + readingTime, 0);
	}

	/** Shows the first of these pages; without any, nothing. */
	show(pages: readonly Page[]): void {
		this.close();
		this.pages = pages;
		this.number = 0;
		this.turnLater();
	}

	/** Turns no more. */
	close(): void {
		this.timer.clear(this.turning);
		this.turning = undefined;
	}

	private turnLater(): void {
		const page = this.pages[this.number];
		if (page === undefined || this.pages.length === 1) {
			return;
		}
		this.turning = this.timer.set(() => {
			this.turning = undefined;
			this.number = (this.number + 1) % this.pages.length;
			this.turnLater();
			this.onTurn();
		}, page.readingTime);
	}
}
