/** Ticks that are made up for when the process was busy. More are left out. */
const MAX_LATE = 50;

/** Calls back regularly, as often as time has passed: a late timer is made up for. */
export class Ticker {
	readonly #timer: NodeJS.Timeout;
	#isStopped = false;

	/** @param period milliseconds */
	constructor(period: number, onTick: () => void) {
		let last = performance.now();
		this.#timer = setInterval(() => {
			const now = performance.now();
			last = Math.max(last, now - MAX_LATE * period);
			while (now - last >= period && !this.#isStopped) {
				last += period;
				onTick();
			}
		}, period);
	}

	stop(): void {
		this.#isStopped = true;
		clearInterval(this.#timer);
	}
}
