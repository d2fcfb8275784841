import type { Application } from "../../core/application.js";
import type { Settings } from "../../hardware/hardware.js";
import { REMINDERS, SET_CLOCK } from "../../hardware/reminder-times.js";
import { MAX_REMINDERS, type Reminder, type Reminders } from "../../hardware/reminders.js";
import type { TimerHandle } from "../../hardware/timer.js";

/** Members of the application that timers need. */
type ReminderApp = Pick<Application, "timer" | "now" | "log">;

/** A timer that runs, or waits until the clock is set. */
interface Running {
	readonly text: string;
	/** Milliseconds since 1970, by the clock as it was set or not set. */
	due: number;
	handle: TimerHandle | undefined;
}

/** Milliseconds between two looks at a clock that is not set. */
const CLOCK_CHECK = 5_000;

/**
 * Timers that are kept in the settings. A chip does not know the time when it starts: those from before wait until it is
 * set, and the others are then stored with the time.
 */
export class StoredReminders implements Reminders {
	private readonly settings: Settings;
	private readonly app: ReminderApp;
	private readonly onDue: (reminder: Pick<Reminder, "id" | "text">) => void;
	private readonly running = new Map<number, Running>();
	/** Runs while the clock is not set. */
	private clock: TimerHandle | undefined;
	private looked: number;

	/** @param onDue called when a timer is due, or was while the device was off */
	constructor(settings: Settings, app: ReminderApp, onDue: StoredReminders["onDue"]) {
		this.settings = settings;
		this.app = app;
		this.onDue = onDue;
		this.looked = this.app.now();
		for (let id = 1; id <= MAX_REMINDERS; id += 1) {
			this.restore(id);
		}
		if (this.looked < SET_CLOCK) {
			this.clock = app.timer.repeat(() => this.checkClock(), CLOCK_CHECK);
		}
	}

	get all(): readonly Reminder[] {
		const now = this.app.now();
		return [...this.running]
			.map(([id, { due, text }]) => ({ id, text, seconds: Math.max(0, Math.ceil((due - now) / 1_000)) }))
			.sort((a, b) => a.seconds - b.seconds);
	}

	set(seconds: number, text: string): Reminder {
		let id = 1;
		while (this.running.has(id)) {
			id += 1;
		}
		if (id > MAX_REMINDERS) {
			throw new Error(`timer limit reached (${MAX_REMINDERS}): cancel one first`);
		}
		const running: Running = { text, due: this.app.now() + seconds * 1_000, handle: undefined };
		if (!this.store(id, running)) {
			throw new Error("the timer could not be stored; the device's log has the reason");
		}
		this.running.set(id, running);
		this.wait(id, running);
		return { id, text, seconds };
	}

	cancel(id: number): void {
		const running = this.running.get(id);
		if (running === undefined) {
			throw new Error(`timer ${id} not found`);
		}
		this.app.timer.clear(running.handle);
		this.forget(id);
	}

	/** Stops waiting; what is stored stays. */
	close(): void {
		this.app.timer.clear(this.clock);
		for (const { handle } of this.running.values()) {
			this.app.timer.clear(handle);
		}
		this.running.clear();
	}

	private restore(id: number): void {
		const stored = this.settings.get(REMINDERS, String(id));
		const text = typeof stored === "string" ? stored : "";
		const end = text.indexOf(" ");
		const due = Number(text.slice(0, end));
		if (end > 0 && due >= SET_CLOCK) {
			const running: Running = { due, text: text.slice(end + 1), handle: undefined };
			this.running.set(id, running);
			if (this.looked >= SET_CLOCK) {
				this.wait(id, running);
			}
		} else if (stored !== undefined) {
			this.app.log(`timer ${id} dropped: it was set while the time was unknown`);
			this.forget(id);
		}
	}

	private store(id: number, { due, text }: Running): boolean {
		return this.settings.set(REMINDERS, String(id), `${due} ${text}`);
	}

	private forget(id: number): void {
		this.running.delete(id);
		this.settings.delete(REMINDERS, String(id));
	}

	private wait(id: number, running: Running): void {
		const ring = (): void => {
			this.forget(id);
			this.onDue({ id, text: running.text });
		};
		running.handle = this.app.timer.set(ring, Math.max(0, running.due - this.app.now()));
	}

	/** When the clock has been set, timers from before the restart begin, and the others get their time. */
	private checkClock(): void {
		const before = this.looked;
		this.looked = this.app.now();
		if (this.looked < SET_CLOCK) {
			return;
		}
		this.app.timer.clear(this.clock);
		const jump = this.looked - before - CLOCK_CHECK;
		for (const [id, running] of this.running) {
			if (running.handle === undefined) {
				this.wait(id, running);
			} else {
				running.due += jump;
				this.store(id, running);
			}
		}
	}
}
