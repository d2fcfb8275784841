import type { Guard } from "../app/guard.js";
import type { Face, Hardware } from "../hardware/hardware.js";
import type { ChipPower } from "../hardware/power.js";
import type { Runtime, TimerHandle } from "../hardware/timer.js";
import { deepFreeze } from "../text/deep-freeze.js";

/** Times in seconds; 0: never. */
interface PowerTimes {
	/** Without use, until the screen is dimmed. */
	readonly screenDim: number;
	/** Without use, until it is turned off. */
	readonly screenOff: number;
	/** Without use and without a session, until the chip sleeps. */
	readonly sleepAfter: number;
	/** From then until it wakes by itself. */
	readonly wakeAfter: number;
}

interface PowerSaverOptions extends PowerTimes, Runtime {
	readonly board: Pick<Hardware, "screen" | "buttons">;
	readonly guard: Guard;
	/** Absent where the chip cannot sleep. */
	readonly chip: Pick<ChipPower, "canWake" | "sleep"> | undefined;
}

/** Percent of the chosen brightness that a dimmed screen has. */
const DIMMED = 20;

/** A device in one of these states is in use for as long as it lasts. */
const BUSY: readonly string[] = deepFreeze(["wifi_configuring", "listening", "speaking", "upgrading"]);

/**
 * Lets the screen, and then the chip, rest while nobody uses the device. It is told what is shown, and whenever somebody
 * uses the device in another way.
 */
export class PowerSaver {
	private readonly options: PowerSaverOptions;
	private isBusy = false;
	private isConnected = false;
	private dimming: TimerHandle | undefined;
	private darkening: TimerHandle | undefined;
	private sleeping: TimerHandle | undefined;

	constructor(options: PowerSaverOptions) {
		this.options = options;
		this.used();
	}

	/** The device is used: the screen is lit, and all times start again. */
	used(): void {
		this.clearScreen();
		this.light(100);
		if (!this.isBusy) {
			const { screenDim, screenOff } = this.options;
			this.dimming = this.after(screenDim, () => this.light(DIMMED));
			this.darkening = this.after(screenOff, () => {
				this.clearScreen();
				this.light(0);
			});
		}
		this.planSleep();
	}

	/** Takes what has changed on the face, also on a board without a screen. */
	shown(change: Partial<Face>): void {
		const { state, connected } = change;
		const wasBusy = this.isBusy;
		if (state !== undefined) {
			this.isBusy = BUSY.includes(state);
		}
		if (connected !== undefined && connected !== this.isConnected) {
			this.isConnected = connected;
			this.planSleep();
		}
		if (wasBusy !== this.isBusy || isForPeople(change)) {
			this.used();
		}
	}

	close(): void {
		this.clearScreen();
		this.options.timer.clear(this.sleeping);
		this.sleeping = undefined;
	}

	private clearScreen(): void {
		this.options.timer.clear(this.dimming);
		this.options.timer.clear(this.darkening);
		this.dimming = undefined;
		this.darkening = undefined;
	}

	/** A backlight that does not answer keeps neither the timers from running nor the chip from sleeping. */
	private light(percent: number): void {
		const { board, guard } = this.options;
		const { screen } = board;
		if (screen?.light !== undefined && screen.light !== percent) {
			guard.run(() => {
				screen.light = percent;
			});
		}
	}

	/** A device in a session does not sleep: its backend may call it. */
	private planSleep(): void {
		this.options.timer.clear(this.sleeping);
		const awaits = !this.isBusy && !this.isConnected;
		this.sleeping = awaits ? this.after(this.options.sleepAfter, () => this.sleep()) : undefined;
	}

	private after(seconds: number, callback: () => void): TimerHandle | undefined {
		return seconds === 0 ? undefined : this.options.timer.set(callback, seconds * 1000);
	}

	private sleep(): void {
		const { chip, board, wakeAfter, log } = this.options;
		const pins = Object.values(board.buttons ?? {})
			.map(({ wakePin }) => wakePin)
			.filter((pin) => pin !== undefined)
			.filter((pin) => chip?.canWake(pin));
		this.sleeping = undefined;
		if (chip === undefined) {
			log("no deep sleep: this device cannot");
		} else if (pins.length === 0 && wakeAfter === 0) {
			log("no deep sleep: no button can end it, and wakeAfter is 0");
		} else {
			log(`deep sleep${wakeAfter === 0 ? "" : ` for ${wakeAfter} s`}`);
			this.close();
			this.light(0);
			try {
				chip.sleep(pins, wakeAfter);
			} catch (error) {
				log(`no deep sleep: ${String(error)}`);
			}
		}
	}
}

/** Whether a change of the face is something that a person should see now. */
const isForPeople = ({ alert, message, code, setup, volume }: Partial<Face>): boolean => {
	const words = `${alert?.status ?? ""}${alert?.message ?? ""}${message ?? ""}${code ?? ""}`;
	return words !== "" || setup !== undefined || volume !== undefined;
};
