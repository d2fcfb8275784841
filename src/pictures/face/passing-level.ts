import type { TimerHandle, TimerModule } from "../../hardware/timer.js";
import type { Level } from "./status-drawing.js";

/** Milliseconds that a level is shown after it was set. */
const LEVEL_TIME = 2_000;

/** The level of the volume or the brightness, which is shown for a moment after it was set. */
export class PassingLevel {
	/** Undefined: nothing is shown. */
	shown: Level | undefined;
	private readonly timer: TimerModule;
	private readonly onChange: () => void;
	private passing: TimerHandle | undefined;

	constructor(timer: TimerModule, onChange: () => void) {
		this.timer = timer;
		this.onChange = onChange;
	}

	show(level: Level): void {
		this.shown = level;
		this.onChange();
		this.close();
		this.passing = this.timer.set(() => {
			this.passing = undefined;
			this.shown = undefined;
			this.onChange();
		}, LEVEL_TIME);
	}

	close(): void {
		this.timer.clear(this.passing);
		this.passing = undefined;
	}
}
