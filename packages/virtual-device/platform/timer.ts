import { receive, send } from "./bridge.js";

interface RunningTimer {
	readonly id: number;
	readonly callback: () => void;
	readonly repeats: boolean;
}

const timers = new Map<number, RunningTimer>();
let lastId = 0;

receive("timer.fired", ([id]) => {
	const timer = timers.get(id as number);
	if (timer !== undefined) {
		if (!timer.repeats) {
			timers.delete(timer.id);
		}
		timer.callback();
	}
});

function start(callback: () => void, delay: number, repeats: boolean): RunningTimer {
	lastId += 1;
	const timer = { id: lastId, callback, repeats };
	timers.set(timer.id, timer);
	send(["timer.set", timer.id, delay, repeats]);
	return timer;
}

/** Stands in for Moddable's `timer`: Node keeps the time. */
const Timer = {
	set: (callback: () => void, delay = 0) => start(callback, delay, false),
	repeat: (callback: () => void, interval: number) => start(callback, interval, true),
	/** Simulated hardware needs no time. */
	delay(_milliseconds: number): void {},
	clear(timer: RunningTimer | null | undefined): void {
		if (timer && timers.delete(timer.id)) {
			send(["timer.clear", timer.id]);
		}
	},
};

export default Timer;
