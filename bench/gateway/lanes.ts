import pLimit from "p-limit";
import type { Era } from "../../host-test/e2e/clients.js";
import type { Program } from "../../host-test/e2e/program.js";
import { Samples } from "./samples.js";

interface Lane {
	readonly path: string;
	readonly era: Era;
	readonly call: () => Promise<void>;
	readonly samples: Samples;
	/** The program that serves the calls. */
	readonly program: Program;
	/** Milliseconds of CPU that it has taken for calls one after the other. */
	cpuTime: number;
	/** … and for calls at the same time. */
	busyCpuTime: number;
}

export const AT_THE_SAME_TIME = 32;

/** Warm-up turns. */
const WARM_UP = 12;
/** Short turns, so that no connection is closed as idle in between. */
const TURNS = 80;
export const CALLS_PER_TURN = 25;
/** Calls in a lane. */
export const CALLS = TURNS * CALLS_PER_TURN;
/** Turns that are joined where calls arrive at the same time. */
const BUSY_TURNS = 10;

/** Milliseconds after which a lane's turn ends: some programs take half a second per call. */
const TURN_LIMIT = 500;

/** Call paths to compare. They take turns, so that other load on the machine affects all of them. */
export class Lanes {
	readonly #lanes: Lane[] = [];
	readonly #closers: (() => Promise<void> | void)[] = [];

	add(path: string, era: Era, call: () => Promise<void>, program: Program): void {
		this.#lanes.push({ path, era, call, samples: new Samples(), program, cpuTime: 0, busyCpuTime: 0 });
	}

	/** Registers a clean-up; the last one runs first. */
	onClose(close: () => Promise<void> | void): void {
		this.#closers.push(close);
	}

	async measure(): Promise<void> {
		for (let round = 0; round < WARM_UP; round += 1) {
			for (const { call } of this.#lanes) {
				await turn(CALLS_PER_TURN, call);
			}
		}
		for (let round = 0; round < TURNS; round += 1) {
			for (const lane of this.#lanes) {
				const before = lane.program.cpuTime;
				await turn(CALLS_PER_TURN, () => lane.samples.time(lane.call));
				lane.cpuTime += lane.program.cpuTime - before;
			}
		}
		// Turns are long enough for the system's clock of CPU time, which has steps of 10 ms.
		for (let round = 0; round < TURNS / BUSY_TURNS; round += 1) {
			for (const lane of this.#lanes) {
				const before = lane.program.cpuTime;
				await inParallel(CALLS_PER_TURN * BUSY_TURNS, AT_THE_SAME_TIME, lane.call);
				lane.busyCpuTime += lane.program.cpuTime - before;
			}
		}
	}

	/** In the order in which they were added. */
	get paths(): readonly string[] {
		return [...new Set(this.#lanes.map(({ path }) => path))];
	}

	/** Finds the measurements of a path in a revision; undefined if it was not measured. */
	find(path: string, era: Era): Lane | undefined {
		return this.#lanes.find((lane) => lane.path === path && lane.era === era);
	}

	async close(): Promise<void> {
		for (const close of this.#closers.reverse()) {
			await close();
		}
	}
}

async function turn(calls: number, call: () => Promise<void>): Promise<void> {
	const end = performance.now() + TURN_LIMIT;
	for (let made = 0; made < calls && performance.now() < end; made += 1) {
		await call();
	}
}

/** Runs something that often, and at most that many at a time. */
export async function inParallel(count: number, concurrency: number, run: (at: number) => Promise<void>) {
	const limit = pLimit(concurrency);
	await Promise.all(Array.from({ length: count }, (_, at) => limit(() => run(at))));
}
