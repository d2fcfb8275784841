import type { Deliver, Service } from "./service.js";

/** The firmware's timers. */
export class Timers implements Service {
	readonly prefix = "timer";
	readonly #deliver: Deliver;
	readonly #running = new Map<number, NodeJS.Timeout>();

	constructor(deliver: Deliver) {
		this.#deliver = deliver;
	}

	take(kind: string, [id, delay, repeats]: readonly unknown[]): void {
		if (kind === "set") {
			this.#set(id as number, delay as number, repeats as boolean);
		} else {
			clearTimeout(this.#running.get(id as number));
			this.#running.delete(id as number);
		}
	}

	close(): void {
		for (const timer of this.#running.values()) {
			clearTimeout(timer);
		}
		this.#running.clear();
	}

	#set(id: number, delay: number, repeats: boolean): void {
		const fire = (): void => this.#deliver({ header: ["timer.fired", id] });
		const fireOnce = (): void => {
			this.#running.delete(id);
			fire();
		};
		this.#running.set(id, repeats ? setInterval(fire, delay) : setTimeout(fireOnce, delay));
	}
}
