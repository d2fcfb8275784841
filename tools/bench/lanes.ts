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

/** Short turns, so that no connection is closed as idle in between. */
export const CALLS_PER_TURN = 100;
/** Turns are longer where calls arrive at the same time: the system's clock of CPU time has steps of 10 ms. */
const BUSY_CALLS_PER_TURN = 250;
/** Calls in a lane, one after the other; and at the same time, which take less. */
export const CALLS = 5_000;
export const BUSY_CALLS = 10_000;
/** Part of the calls that are made before: V8 compiles what runs often. */
const WARM_UP = 1 / 5;

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
		const [one, busy] = [CALLS / CALLS_PER_TURN, BUSY_CALLS / BUSY_CALLS_PER_TURN];
		const callBusily = ({ call }: Lane) => inParallel(BUSY_CALLS_PER_TURN, AT_THE_SAME_TIME, call);
		await this.#takeTurns(one * WARM_UP, ({ call }) => inParallel(CALLS_PER_TURN, 1, call));
		await this.#takeTurns(busy * WARM_UP, callBusily);
		await this.#takeTurns(
			one,
			({ samples, call }) => inParallel(CALLS_PER_TURN, 1, () => timed(samples, call)),
			"cpuTime",
		);
		await this.#takeTurns(busy, callBusily, "busyCpuTime");
	}

	async #takeTurns(count: number, run: (lane: Lane) => Promise<void>, time?: "cpuTime" | "busyCpuTime"): Promise<void> {
		for (let round = 0; round < count; round += 1) {
			for (const lane of this.#lanes) {
				const before = lane.program.cpuTime;
				await run(lane);
				if (time !== undefined) {
					lane[time] += lane.program.cpuTime - before;
				}
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
