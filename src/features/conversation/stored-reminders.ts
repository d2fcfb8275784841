import { AppPart, type Listener } from "../../core/listener.js";
import type { Settings, TimerHandle } from "../../hardware/hardware.js";
import { MAX_REMINDERS, type Reminder, type Reminders, SET_CLOCK } from "../../hardware/reminders.js";

/** The domain of stored timers: "TIME TEXT" by id. */
const REMINDERS = "timers";

/** A timer that runs, or waits until the clock is set. */
interface Running {
	readonly text: string;
	/** Milliseconds since 1970, by a clock that may not be set yet. */
	due: number;
}

/** Longest poll interval, ms. Timers are due by the clock, which may be set meanwhile. */
const TICK = 1_000;

/** Number of chimes, unless a button ends the alarm earlier. */
const RINGS = 5;

/** Milliseconds from chime to chime. */
const RING_INTERVAL = 4_000;

/** Timers in the settings, and the alarm of due ones. After a restart they wait until the clock is set. */
export class StoredReminders extends AppPart implements Reminders, Listener {
	private readonly settings = this.app.board.settings as Settings;
	private readonly running = new Map<number, Running>();
	/** Runs until the next check of the clock, while there are timers. */
	private clock: TimerHandle | undefined;
	/** Planned time of that check, by the clock. */
	private nextTime = 0;
	private ringing: TimerHandle | undefined;

	onStart(): void {
		for (let id = 1; id <= MAX_REMINDERS; id += 1) {
			this.restore(id);
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
		const running: Running = { text, due: this.app.now() + seconds * 1_000 };
		if (!this.store(id, running)) {
			throw new Error("the timer could not be stored; the device's log has the reason");
		}
		this.add(id, running);
		return { id, text, seconds };
	}

	cancel(id: number): void {
		if (!this.running.has(id)) {
			throw new Error(`timer ${id} not found`);
		}
		this.forget(id);
	}

	onPress(): boolean {
		return this.stopAlarm();
	}

	/** @returns whether it was ringing */
	private stopAlarm(): boolean {
		const wasRinging = this.ringing !== undefined;
		this.app.timer.clear(this.ringing);
		this.ringing = undefined;
		return wasRinging;
	}

	private restore(id: number): void {
		const stored = this.settings.get(REMINDERS, String(id));
		const text = typeof stored === "string" ? stored : "";
		const end = text.indexOf(" ");
		const due = Number(text.slice(0, end));
		if (end > 0 && due >= SET_CLOCK) {
			this.add(id, { due, text: text.slice(end + 1) });
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

	private add(id: number, running: Running): void {
		this.running.set(id, running);
		if (this.clock === undefined) {
			this.plan();
		}
	}

	/** Plans the next check of the clock, if there are timers: when the first is due, or after the longest interval. */
	private plan(): void {
		const now = this.app.now();
		const times = [...this.running.values()].map(({ due }) => due);
		this.nextTime = Math.max(now, Math.min(now + TICK, ...times));
		this.clock = times.length === 0 ? undefined : this.app.timer.set(() => this.tick(), this.nextTime - now);
	}

	private onDue(id: number, text: string): void {
		const { app } = this;
		const { board, words } = app;
		this.forget(id);
		app.log(`timer ${id} is due: ${text}`);
		app.show({ alert: { status: words?.timer ?? "", message: text } });
		this.stopAlarm();
		this.ring(RINGS);
		board.chat?.show(`timer: ${text}`);
		app.notify("notifications/timer_due", { id, text });
	}

	/** Plays the chime repeatedly, because nobody may be near. Silent on a board without a player. */
	private ring(left: number): void {
		const { board, timer } = this.app;
		void this.app.drawAttention();
		const isLast = left === 1 || board.player === undefined;
		this.ringing = isLast ? undefined : timer.set(() => this.ring(left - 1), RING_INTERVAL);
	}

	/** Rings for due timers. Timers from before the clock was set get their time when it is set. */
	private tick(): void {
		const now = this.app.now();
		const isSet = this.nextTime < SET_CLOCK && now >= SET_CLOCK;
		const jump = now - this.nextTime;
		this.plan();
		for (const [id, running] of this.running) {
			if (isSet && running.due < SET_CLOCK) {
				running.due += jump;
				this.store(id, running);
			}
			if (running.due <= now) {
				this.onDue(id, running.text);
			}
		}
	}
}
