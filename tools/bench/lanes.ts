import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import pLimit from "p-limit";
import type { Era } from "../../e2e/clients.js";
import type { Program } from "../../host-test/support/program.js";

interface Lane {
	readonly path: string;
	readonly era: Era;
	readonly call: () => Promise<void>;
	/** Nanoseconds that calls took. */
	readonly samples: RecordableHistogram;
	/** The program that serves the calls. */
	readonly program: Program;
	/** Milliseconds of CPU that it has taken for calls one after the other. */
	cpuTime: number;
	/** … and for calls at the same time. */
	busyCpuTime: number;
}

export const ERAS: readonly Era[] = ["2025-11-25", "2026-07-28"];

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

/** Call paths to compare. They take turns, so that other load on the machine affects all of them. */
export class Lanes {
	readonly #lanes: Lane[] = [];
	readonly #closers: (() => Promise<void> | void)[] = [];

	add(path: string, era: Era, call: () => Promise<void>, program: Program): void {
		this.#lanes.push({ path, era, call, samples: createHistogram(), program, cpuTime: 0, busyCpuTime: 0 });
	}

	/** Registers a clean-up; the last one runs first. */
	onClose(close: () => Promise<void> | void): void {
		this.#closers.push(close);
	}

	async measure(): Promise<void> {
		for (let round = 0; round < WARM_UP; round += 1) {
			for (const { call } of this.#lanes) {
				await inParallel(CALLS_PER_TURN, 1, call);
			}
		}
		await this.#takeTurns(TURNS, "cpuTime", ({ samples, call }) =>
			inParallel(CALLS_PER_TURN, 1, () => timed(samples, call)),
		);
		// Turns are long enough for the system's clock of CPU time, which has steps of 10 ms.
		await this.#takeTurns(TURNS / BUSY_TURNS, "busyCpuTime", ({ call }) =>
			inParallel(CALLS_PER_TURN * BUSY_TURNS, AT_THE_SAME_TIME, call),
		);
	}

	async #takeTurns(count: number, time: "cpuTime" | "busyCpuTime", run: (lane: Lane) => Promise<void>): Promise<void> {
		for (let round = 0; round < count; round += 1) {
			for (const lane of this.#lanes) {
				const before = lane.program.cpuTime;
				await run(lane);
				lane[time] += lane.program.cpuTime - before;
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

/** Measures a call. */
export async function timed(samples: RecordableHistogram, call: () => Promise<void>): Promise<void> {
	const start = performance.now();
	await call();
	samples.record(Math.ceil((performance.now() - start) * 1_000_000));
}

/** Describes calls as "p50 / p99" in milliseconds. */
export function describeSamples(samples: RecordableHistogram): string {
	return [50, 99].map((part) => (samples.percentile(part) / 1_000_000).toFixed(2)).join(" / ");
}

/** Runs something that often, and at most that many at a time. */
export async function inParallel(count: number, concurrency: number, run: (at: number) => Promise<void>) {
	const limit = pLimit(concurrency);
	await Promise.all(Array.from({ length: count }, (_, at) => limit(() => run(at))));
}
