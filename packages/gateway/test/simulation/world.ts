import type { Path } from "./network.js";
import { Random } from "./random.js";

/** The simulated date at the beginning, ms since 1970. */
const BEGINNING = Date.parse("2026-01-01T00:00:00Z");

/** Most events of one world: more are an endless loop. */
const MAX_EVENTS = 400_000;

/**
 * Runs the promise jobs and process.nextTick callbacks of an event, as Node does after each of its own. Not documented, but
 * in every Node: a turn of Node's event loop for each simulated event takes a fifth longer.
 */
const runJobs = (process as unknown as { readonly _tickCallback: () => void })._tickCallback;

interface Event {
	time: number;
	readonly order: number;
	readonly process: SimulatedProcess | undefined;
	/** Undefined: cancelled. */
	run: (() => void) | undefined;
}

/** A process of the operating system, in the simulation: it can be stopped for a while, and killed at any time. */
export class SimulatedProcess {
	readonly name: string;
	/** To NATS. */
	readonly path: Path;
	/** How much its clock is ahead, ms. */
	readonly clockError: number;
	isAlive = true;
	/** Until when it does not run, by the world's clock. */
	stoppedUntil = 0;
	/** Timers that have not fired. */
	timers = 0;
	/** Called when it is killed. */
	readonly onKilled: (() => void)[] = [];
	/** How many messages to NATS are left before a crash, which `run` is; undefined: it is not planned. */
	crash: { left: number; readonly run: () => void } | undefined;

	constructor(name: string, path: Path, clockError = 0) {
		this.name = name;
		this.path = path;
		this.clockError = clockError;
	}

	/** Counts a step, before which a crash may be planned. Returns whether the process lives. */
	mayGoOn(): boolean {
		if (this.crash !== undefined && this.crash.left-- === 0) {
			this.crash.run();
		}
		return this.isAlive;
	}

	kill(): void {
		this.isAlive = false;
		for (const end of this.onKilled.splice(0)) {
			end();
		}
	}
}

/** One simulated world: a clock, and the queue of everything that will happen. The seed decides all of it. */
export class World {
	readonly random: Random;
	/** Milliseconds since the beginning. */
	now = 0;
	/** Events that have happened. */
	events = 0;
	/** The process that is running; undefined outside of processes. */
	current: SimulatedProcess | undefined;
	/** Changes with everything that happens: the same for the same seed. */
	trace = 0;
	/** The next one comes last. */
	readonly #queue: Event[] = [];
	/** The first failure. */
	failure: Error | undefined;
	#order = 0;

	constructor(seed: number) {
		this.random = new Random(seed);
	}

	/** Milliseconds since 1970, by the right clock. */
	get date(): number {
		return BEGINNING + Math.floor(this.now);
	}

	/**
	 * Has something happen later.
	 *
	 * @param delay milliseconds
	 * @param process that it happens in: not if that is killed before, and later if that is stopped
	 * @returns a function that cancels it
	 */
	at(delay: number, process: SimulatedProcess | undefined, run: () => void): () => void {
		return this.atTime(this.now + Math.max(delay, 0), process, run);
	}

	/** As {@link at}, at a time of the world's clock. Events of the same time keep their order. */
	atTime(time: number, process: SimulatedProcess | undefined, run: () => void): () => void {
		const event: Event = { time, order: this.#order++, process, run };
		this.#push(event);
		return () => {
			event.run = undefined;
		};
	}

	/** Lets time pass. Settles when all promises that can settle have settled, or after a failure. */
	pass(duration: number): Promise<void> {
		const end = this.now + duration;
		// Promise jobs do not nest: the loop begins where none runs.
		return new Promise((resolve) => {
			setImmediate(() => {
				this.#passUntil(end);
				resolve();
			});
		});
	}

	#passUntil(end: number): void {
		for (let next = this.#queue.at(-1); next !== undefined && next.time <= end; next = this.#queue.at(-1)) {
			this.#queue.pop();
			this.#happen(next);
			if (this.failure !== undefined) {
				return;
			}
		}
		this.current = undefined;
		this.now = Math.max(this.now, end);
	}

	#happen(event: Event): void {
		const { process, run } = event;
		if (run === undefined || process?.isAlive === false) {
			return;
		}
		if (process !== undefined && process.stoppedUntil > event.time) {
			event.time = process.stoppedUntil;
			this.#push(event);
			return;
		}
		this.now = Math.max(this.now, event.time);
		this.events += 1;
		this.trace = (Math.imul(this.trace ^ event.order, 0x01000193) + Math.floor(event.time * 1_000)) >>> 0;
		this.current = process;
		try {
			if (this.events > MAX_EVENTS) {
				throw new Error(`more than ${MAX_EVENTS} events: something goes on without end`);
			}
			run();
			runJobs();
		} catch (error) {
			this.failure ??= error as Error;
		}
	}

	/** Worlds have about a hundred events that are to come: a heap is not faster. */
	#push(event: Event): void {
		const isLater = ({ time, order }: Event): boolean =>
			time > event.time || (time === event.time && order > event.order);
		let at = this.#queue.length;
		while (at > 0 && !isLater(this.#queue[at - 1] as Event)) {
			at -= 1;
		}
		this.#queue.splice(at, 0, event);
	}
}
