import { type Deliver, makeService, type Service } from "./service.js";

interface RunningTimer {
	/** When it fires, by the device's clock. */
	due: number;
	/** Undefined: it fires once. */
	readonly interval: number | undefined;
	handle: NodeJS.Timeout;
}

/** The firmware's timers. */
export interface Timers extends Service {
	/** Lets time pass for the firmware at once: its timers fire in their order, and its clocks show their time. */
	pass(milliseconds: number): Promise<void>;
}

/**
 * Runs the firmware's timers.
 *
 * @param handled resolves once the firmware has handled all messages
 */
export function openTimers(deliver: Deliver, handled: () => Promise<void>): Timers {
	const running = new Map<number, RunningTimer>();
	/** Milliseconds that have passed for the firmware alone. */
	let ahead = 0;
	/** The device's clock while time passes. */
	let passing: number | undefined;
	const now = (): number => passing ?? Date.now() + ahead;
	const clear = (id: number): void => {
		clearTimeout(running.get(id)?.handle);
		running.delete(id);
	};
	const fire = (id: number): void => {
		const timer = running.get(id);
		if (timer?.interval === undefined) {
			clear(id);
		} else {
			start(id, Math.max(timer.due + timer.interval, now()), timer.interval);
		}
		deliver({ header: ["timer.fired", id] });
	};
	const start = (id: number, due: number, interval: number | undefined): void => {
		clear(id);
		running.set(id, { due, interval, handle: setTimeout(fire, due - now(), id) });
	};
	const setClock = (time: number, isStopped: boolean): void => deliver({ header: ["time.now", time, isStopped] });
	const handlers = {
		set: ([id, delay, repeats]: [number, number, boolean]) => start(id, now() + delay, repeats ? delay : undefined),
		clear: ([id]: [number]) => clear(id),
	};
	return {
		...makeService("timer", handlers, () => [...running.keys()].forEach(clear)),
		async pass(milliseconds) {
			await handled();
			const end = now() + milliseconds;
			passing = now();
			for (let next = firstDue(running, end); next !== undefined; next = firstDue(running, end)) {
				passing = Math.max(passing, next.due);
				setClock(passing, true);
				fire(next.id);
				await handled();
			}
			ahead = end - Date.now();
			passing = undefined;
			setClock(end, false);
			for (const [id, { due, interval }] of [...running]) {
				start(id, due, interval);
			}
			await handled();
		},
	};
}

/** The timer that fires next, until a time. */
function firstDue(running: ReadonlyMap<number, RunningTimer>, end: number) {
	const timers = [...running].map(([id, { due }]) => ({ id, due })).filter(({ due }) => due <= end);
	return timers.sort((one, other) => one.due - other.due || one.id - other.id)[0];
}
