import { forget, register, send } from "./bridge.js";

class RunningTimer {
	readonly id = register(this);
	readonly callback: () => void;
	readonly repeats: boolean;

	constructor(callback: () => void, delay: number, repeats: boolean) {
		this.callback = callback;
		this.repeats = repeats;
		send(["timer.set", this.id, delay, repeats]);
	}

	/** @internal */
	fired(): void {
		if (!this.repeats) {
			forget(this.id);
		}
		this.callback();
	}
}

/** Stands in for Moddable's `timer`: Node keeps the time. */
const Timer = {
	set: (callback: () => void, delay = 0) => new RunningTimer(callback, delay, false),
	repeat: (callback: () => void, interval: number) => new RunningTimer(callback, interval, true),
	/** Simulated hardware needs no time. */
	delay(_milliseconds: number): void {},
	clear(timer: RunningTimer | null | undefined): void {
		if (timer && forget(timer.id)) {
			send(["timer.clear", timer.id]);
		}
	},
};

export default Timer;
