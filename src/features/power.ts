import { AppPart, type Feature, type Listener } from "../core/listener.js";
import type { Face, TimerHandle } from "../hardware/hardware.js";
import { awakeParts } from "../hardware/kinds/index.js";
import { SET_CLOCK } from "../hardware/reminders.js";

/** Seconds until the screen of a board with a battery is dimmed, and turned off. */
const SCREEN_DIM = 60;
const SCREEN_OFF = 300;

/** Percent of the chosen brightness that a dimmed screen has. */
const DIMMED = 20;

/** Seconds from a low battery to the sleep, and from one check of the battery to the next. */
const LOW_BATTERY_DELAY = 10;
const LOW_BATTERY_SLEEP = 3_600;

/** The chip does not sleep if a timer is due within these seconds, because it takes some to start. */
const SOON = 60;

/** States in which the device counts as in use. */
const BUSY: readonly string[] = Object.freeze(["wifi_configuring", "listening", "speaking", "upgrading"]);

/** Dims and turns off the screen, and then puts the chip to sleep, while nobody uses the device. */
class PowerSaver extends AppPart implements Listener {
	private readonly hasBattery = this.app.board.battery !== undefined;
	/** Idle times in seconds until the screen is dimmed, and turned off. 0 here and below: never. */
	private readonly screenDim = this.app.setting("screenDim") ?? (this.hasBattery ? SCREEN_DIM : 0);
	private readonly screenOff = this.app.setting("screenOff") ?? (this.hasBattery ? SCREEN_OFF : 0);
	/** Whether the chip may sleep deeply. It restarts at each wake-up, which would roll back firmware on trial. */
	private readonly maySleep = this.app.board.updater?.isOnTrial !== true;
	/** Idle time without a session until the chip sleeps, and from then until it wakes by itself, in seconds. */
	private readonly sleepAfter = this.maySleep ? this.app.setting("sleepAfter") : 0;
	private readonly wakeAfter = this.app.setting("wakeAfter");
	/** Percent of the battery below which the chip sleeps in any case. */
	private readonly sleepBelow = this.maySleep ? this.app.setting("sleepBelow") : 0;
	private isBusy = false;
	private isConnected = false;
	/** The level of the battery, while it is low and not charged. */
	private lowBattery: number | undefined;
	/** Whether the log says, since the last use, why the chip does not sleep. */
	private isLogged = false;
	private dimming: TimerHandle | undefined;
	private darkening: TimerHandle | undefined;
	private sleeping: TimerHandle | undefined;

	onStart(): void {
		this.onUserActivity();
	}

	/** Lights the screen, and restarts all idle times. */
	onUserActivity(): void {
		this.isLogged = false;
		this.clearScreen();
		this.light(100);
		if (!this.isBusy) {
			this.dimming = this.after(this.screenDim, () => this.light(DIMMED));
			this.darkening = this.after(this.screenOff, () => {
				this.clearScreen();
				this.light(0);
			});
		}
		this.planSleep();
	}

	/** Handles changes of the face, also on a board without a screen. */
	onFaceChange(change: Partial<Face>): void {
		const { state, connected, battery } = change;
		const wasBusy = this.isBusy;
		if (state !== undefined) {
			this.isBusy = BUSY.includes(state);
		}
		if (connected !== undefined && connected !== this.isConnected) {
			this.isConnected = connected;
			this.planSleep();
		}
		if (battery !== undefined) {
			const isLow = battery.level < this.sleepBelow && !battery.charging;
			if (isLow !== (this.lowBattery !== undefined)) {
				this.lowBattery = isLow ? battery.level : undefined;
				this.planSleep();
			}
		}
		if (wasBusy !== this.isBusy || isForPeople(change)) {
			this.onUserActivity();
		}
	}

	private clearScreen(): void {
		this.app.timer.clear(this.dimming);
		this.app.timer.clear(this.darkening);
	}

	/** Sets the backlight. If it does not answer, the timers still run and the chip still sleeps. */
	private light(percent: number): void {
		const { board, guard } = this.app;
		const { screen } = board;
		if (screen?.light !== undefined && screen.light !== percent) {
			guard.run(() => {
				screen.light = percent;
			});
		}
	}

	/** A device in a session does not sleep: its backend may call it. */
	private planSleep(): void {
		this.app.timer.clear(this.sleeping);
		const restTime = this.isConnected ? 0 : this.sleepAfter;
		const seconds = this.lowBattery === undefined ? restTime : LOW_BATTERY_DELAY;
		this.sleeping = this.isBusy ? undefined : this.after(seconds, () => this.sleep());
	}

	/** Seconds until a stored timer is due, if the clock is set. */
	private get dueIn(): number | undefined {
		const { board, now } = this.app;
		return now() < SET_CLOCK ? undefined : board.reminders?.all[0]?.seconds;
	}

	/** Why the chip must stay awake; undefined if it may sleep. */
	private get task(): string | undefined {
		const parts = Object.values(awakeParts(this.app.board)).flatMap((states) => Object.entries(states));
		const on = parts.find(([, isOn]) => isOn);
		if (on !== undefined) {
			return `${on[0]} is on`;
		}
		const { awake } = this.app.board.ruleBook ?? {};
		if (awake !== undefined) {
			return `${awake} needs the clock, a sensor or a serial line`;
		}
		const dueIn = this.dueIn ?? SOON;
		return dueIn < SOON ? `a timer is due in ${dueIn} seconds` : undefined;
	}

	private after(seconds: number, callback: () => void): TimerHandle | undefined {
		return seconds === 0 ? undefined : this.app.timer.set(callback, seconds * 1000);
	}

	private sleep(): void {
		const { task } = this;
		if (task !== undefined && this.lowBattery === undefined) {
			this.logAwake(task);
			this.planSleep();
			return;
		}
		const { board, log } = this.app;
		const { wakeAfter } = this;
		const chip = board.power;
		const pins = Object.values(board.buttons ?? {})
			.map(({ wakePin }) => wakePin)
			.filter((pin) => pin !== undefined)
			.filter((pin) => chip?.canWake(pin));
		const longest = wakeAfter === 0 && this.lowBattery !== undefined ? LOW_BATTERY_SLEEP : wakeAfter;
		const { dueIn } = this;
		// The chip wakes in time for the next timer.
		const seconds = dueIn === undefined ? longest : Math.min(longest || dueIn, Math.max(1, dueIn - SOON));
		if (chip === undefined) {
			this.logAwake("this device cannot");
		} else if (pins.length === 0 && seconds === 0) {
			this.logAwake("no button can end it, and wakeAfter is 0");
		} else {
			const reason = this.lowBattery === undefined ? "" : `battery at ${this.lowBattery} %: `;
			log(`${reason}deep sleep${seconds === 0 ? "" : ` for ${seconds} s`}`);
			this.clearScreen();
			this.light(0);
			try {
				chip.sleep(pins, seconds);
			} catch (error) {
				log(`no deep sleep: ${String(error)}`);
			}
		}
	}

	private logAwake(reason: string): void {
		if (!this.isLogged) {
			this.isLogged = true;
			this.app.log(`no deep sleep: ${reason}`);
		}
	}
}

/** Whether a change of the face is something that a person should see now. */
const isForPeople = ({ alert, message, code, setup, volume }: Partial<Face>): boolean => {
	const words = `${alert?.status ?? ""}${alert?.message ?? ""}${message ?? ""}${code ?? ""}`;
	return words !== "" || setup !== undefined || volume !== undefined;
};

/** Saves power: the settings `screenDim`, `screenOff`, `sleepAfter`, `wakeAfter`, `sleepBelow`, `wifiPowerSave`. */
export default {
	name: "power",
	after: ["parts"],
	start(app) {
		const mode = app.setting("wifiPowerSave");
		try {
			app.board.power?.saveWiFi(mode);
		} catch (error) {
			app.log(`Wi-Fi power save "${mode}": ${String(error)}`);
		}
		app.listen(new PowerSaver(app));
	},
} satisfies Feature;
