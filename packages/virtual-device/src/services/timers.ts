import { type Deliver, makeService, type Service } from "./service.js";

/** Runs the firmware's timers. */
export function openTimers(deliver: Deliver): Service {
	const running = new Map<number, NodeJS.Timeout>();
	const clear = (id: number): void => {
		clearTimeout(running.get(id));
		running.delete(id);
	};
	const handlers = {
		set([id, delay, repeats]: [number, number, boolean]) {
			const fire = (): void => {
				if (!repeats) {
					running.delete(id);
				}
				deliver({ header: ["timer.fired", id] });
			};
			running.set(id, repeats ? setInterval(fire, delay) : setTimeout(fire, delay));
		},
		clear: ([id]: [number]) => clear(id),
	};
	return makeService("timer", handlers, () => [...running.keys()].forEach(clear));
}
