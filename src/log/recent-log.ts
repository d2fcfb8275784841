import type { DeviceLog } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Limits of the lines that are kept, which take the heap of a chip. */
const MAX_LINES = 24;
const MAX_LENGTH = 160;
const MAX_CHARACTERS = 2_000;

/** Milliseconds from the start of a session until lines are sent: before, a gateway is not ready for them. */
const SEND_DELAY = 5_000;

/** Keeps the latest lines of the device's log, and sends them in a session. */
export class RecentLog implements DeviceLog {
	readonly lines: string[] = [];
	send: ((line: string) => void) | undefined;
	private readonly ticks: () => number;
	private readonly timer: TimerModule;
	private readonly start: number;
	private characters = 0;
	/** Lines at the end that were not sent. */
	private unsent = 0;
	private isReady = false;
	private isSending = false;
	private delay: TimerHandle | undefined;

	/** @param ticks a monotonic clock: milliseconds, as a 32-bit number */
	constructor(ticks: () => number, timer: TimerModule) {
		this.ticks = ticks;
		this.timer = timer;
		this.start = ticks();
	}

	/** Adds a line. Queries of URLs are left out, because they may hold keys. */
	add(message: string): void {
		const seconds = ((this.ticks() - this.start) >>> 0) / 1000;
		const text = message.replace(/(:\/\/[^\s?]*\?)\S+/g, "$1…");
		const line = `${seconds.toFixed(1)} ${text}`.slice(0, MAX_LENGTH);
		this.lines.push(line);
		this.characters += line.length;
		while (this.lines.length > MAX_LINES || this.characters > MAX_CHARACTERS) {
			this.characters -= (this.lines.shift() as string).length;
		}
		this.unsent = Math.min(this.unsent + 1, this.lines.length);
		this.flush();
	}

	sessionBegan(): void {
		this.delay = this.timer.set(() => {
			this.isReady = true;
			this.flush();
		}, SEND_DELAY);
	}

	sessionEnded(): void {
		this.timer.clear(this.delay);
		this.isReady = false;
	}

	/** Sends what was not sent. A line about the sending itself waits for its turn. */
	private flush(): void {
		if (this.isSending) {
			return;
		}
		this.isSending = true;
		while (this.isReady && this.unsent > 0) {
			const line = this.lines.at(-this.unsent) as string;
			this.unsent -= 1;
			this.send?.(line);
		}
		this.isSending = false;
	}
}
