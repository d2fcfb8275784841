import type { SimulatedProcess, World } from "./world.js";

/** A path without faults: what data does on it, and the milliseconds that a packet takes. */
export const NORMAL = { state: "up", delay: [0.2, 2] } as const;

/** The network between two places. */
export class Path {
	readonly world: World;
	readonly links = new Set<Link<never>>();
	/** Milliseconds that a packet takes. */
	delay: readonly [low: number, high: number] = NORMAL.delay;
	/** "held": data is delayed, and neither end notices. "cut": connections end, and new ones are refused. */
	state: "up" | "held" | "cut" = "up";

	constructor(world: World) {
		this.world = world;
	}

	/** Whether data takes its usual time, also what was sent before. */
	get isNormal(): boolean {
		return this.state === "up" && this.delay === NORMAL.delay && ![...this.links].some(({ isLate }) => isLate);
	}

	disturb(change: Partial<Pick<Path, "delay" | "state">>): void {
		Object.assign(this, change);
		for (const link of [...this.links]) {
			if (this.state === "cut") {
				link.cut();
			} else if (this.state === "up") {
				link.release();
			}
		}
	}
}

/** The receiver of the other end's messages. */
interface End<T> {
	readonly process: SimulatedProcess | undefined;
	readonly received: (message: T) => void;
	/** The connection has ended: the other end closed it, or the network did. */
	readonly ended: () => void;
}

/** A connection: messages arrive at the other end in order, after a delay, unless the path is disturbed. */
export class Link<T> {
	readonly #path: Path;
	readonly #ends: readonly [End<T>, End<T>];
	/** When the last message to each end arrives. */
	readonly #latest: [number, number] = [0, 0];
	readonly #held: (() => void)[] = [];
	readonly #open: [boolean, boolean] = [true, true];

	constructor(path: Path, ends: readonly [End<T>, End<T>]) {
		this.#path = path;
		this.#ends = ends;
		path.links.add(this);
		for (const side of [0, 1] as const) {
			ends[side].process?.onKilled.push(() => this.close(side));
		}
	}

	/** Whether both ends count it as open. */
	get isOpen(): boolean {
		return this.#open[0] && this.#open[1];
	}

	/** Whether data that was sent while the path was slow is still to arrive. */
	get isLate(): boolean {
		return Math.max(...this.#latest) - this.#path.world.now > NORMAL.delay[1];
	}

	/** Sends from one end to the other. */
	send(from: 0 | 1, message: T): void {
		const to = from === 0 ? 1 : 0;
		if (this.#open[from]) {
			this.#deliver(to, () => this.#open[to] && this.#ends[to].received(message));
		}
	}

	/** One end closes the connection. */
	close(from: 0 | 1): void {
		const to = from === 0 ? 1 : 0;
		if (this.#open[from]) {
			this.#open[from] = false;
			this.#deliver(to, () => this.#end(to));
		}
		if (!this.#open[to]) {
			this.#path.links.delete(this);
		}
	}

	/** The network ends it: both ends notice. */
	cut(): void {
		const { world, links } = this.#path;
		this.#held.length = 0;
		// What is sent from now on never arrives: it would overtake what was held.
		this.#latest.fill(Number.POSITIVE_INFINITY);
		for (const side of [0, 1] as const) {
			world.at(world.random.between(0, 5), this.#ends[side].process, () => this.#end(side));
		}
		links.delete(this);
	}

	/** Delivers the held data. */
	release(): void {
		for (const deliver of this.#held.splice(0)) {
			deliver();
		}
	}

	#end(side: 0 | 1): void {
		if (this.#open[side]) {
			this.#open[side] = false;
			this.#ends[side].ended();
			this.close(side);
		}
	}

	#deliver(to: 0 | 1, run: () => void): void {
		const { world, state, delay } = this.#path;
		if (state === "held") {
			this.#held.push(() => this.#deliver(to, run));
			return;
		}
		const arrival = Math.max(world.now + world.random.between(...delay), this.#latest[to]);
		this.#latest[to] = arrival;
		// Not by the delay: what was rounded could overtake what was sent before.
		world.atTime(arrival, this.#ends[to].process, run);
	}
}
