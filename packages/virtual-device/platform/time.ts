import { receive } from "./bridge.js";

const { now } = Date;

// A test lets time pass. Meanwhile the clock stands still.
receive("time.now", ([time, isStopped]) => {
	const ahead = (time as number) - now();
	Date.now = isStopped ? () => time as number : () => now() + ahead;
});

/** Stands in for Moddable's `time` module: the computer's clock, which the firmware need not set. */
export default {
	set(): void {},
	get ticks(): number {
		return Date.now() | 0;
	},
};
