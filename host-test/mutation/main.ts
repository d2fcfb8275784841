// npm run test:mutation: changes the sources in many small ways, one at a time, and counts how many changes a test notices.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { InvalidArgumentError } from "commander";
import pLimit from "p-limit";
import { makeProgram, ProgramError, runProgram } from "../../scripts/program.js";
import { FULL_ONLY, ROOT, testsIn } from "../runner/select.js";
import { firstFailure, MUTANTS } from "./first-failure.js";
import { type Mutant, mutantsOf } from "./mutants.js";

const SUITES = ["host-test/node/suites.test.ts"];

/** The sources that are changed, and the tests that should notice: quick ones, and more for what survives them. */
const ROOMS: readonly Room[] = [
	...["mcp_server", "mcp_server/features", "protocols", "text", "device_state"].map((name) => ({
		folder: `src/${name}`,
		near: SUITES,
		wide: [],
	})),
	{
		folder: "mcp-manager/src/core",
		near: quickTestsIn("mcp-manager/test/core", "gateway/test/core"),
		// Those that take a minute on two cores. What the manager's and the proxy's would notice takes many.
		wide: [
			...quickTestsIn("gateway/test/mcp", "gateway/test/catalog", "gateway/test/devices", "gateway/test/upstreams"),
			...["manager/registering", "manager/reload", "upstreams/stateless"].map(
				(name) => `mcp-manager/test/${name}.test.ts`,
			),
		],
	},
];

/** Per cent of the mutants that tests must notice. */
const MIN_KILLED = 92;

/** Milliseconds that tests may take without a change. */
const MAX_TIME = 1_800_000;

/** A change counts as an endless loop after this many times what the tests take without it. */
const MAX_SLOWDOWN = 5;

interface Room {
	readonly folder: string;
	readonly near: readonly string[];
	readonly wide: readonly string[];
}

interface Candidate extends Mutant, Room {
	readonly path: string;
	/** The test file of the source's name: it notices most changes within a second. */
	readonly own: readonly string[];
}

function quickTestsIn(...folders: string[]): string[] {
	return folders.flatMap(testsIn).filter((path) => !FULL_ONLY.test(path));
}

function candidates(): Candidate[] {
	return ROOMS.flatMap((room) =>
		readdirSync(`${ROOT}${room.folder}`)
			.filter((name) => /(?<!\.d)\.ts$/.test(name))
			.sort()
			.flatMap((name) => {
				const own = room.near.filter((test) => basename(test, ".test.ts") === basename(name, ".ts"));
				const path = `${room.folder}/${name}`;
				return mutantsOf(readFileSync(`${ROOT}${path}`, "utf8")).map((mutant) => ({ ...mutant, ...room, path, own }));
			}),
	);
}

/** A sequence of numbers from 0 to 1 that a seed decides (mulberry32). */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function choose<T>(all: readonly T[], count: number, seed: number): T[] {
	const random = randomFrom(seed);
	const rest = [...all];
	return Array.from({ length: Math.min(count, all.length) }, () => {
		const [chosen] = rest.splice(Math.floor(random() * rest.length), 1);
		return chosen as T;
	});
}

/**
 * Runs lists of tests without a change.
 *
 * @returns for each list, the milliseconds that it took
 * @throws ProgramError if a test fails: then every change would seem to be noticed
 */
async function measure(lists: Iterable<readonly string[]>): Promise<Map<readonly string[], number>> {
	const times = new Map<readonly string[], number>();
	for (const tests of lists) {
		const begin = performance.now();
		const failure = await firstFailure(tests, MAX_TIME);
		if (failure !== undefined) {
			throw new ProgramError(`a test fails without a change: ${failure}`);
		}
		times.set(tests, performance.now() - begin);
	}
	return times;
}

function wholeNumber(text: string): number {
	if (!/^\d+$/.test(text)) {
		throw new InvalidArgumentError("expected a whole number");
	}
	return Number(text);
}

const program = makeProgram("run test:mutation", "Counts how many small changes of the sources a test notices.")
	.argument("[sources...]", "only sources whose paths begin so, as src/text")
	.option("--count <n>", "how many changes are tried", wholeNumber, 150)
	.option("--seed <n>", "which of them", wholeNumber, 20_261_122)
	.action(async (only: string[], { count, seed }: { count: number; seed: number }) => {
		for (const signal of ["SIGINT", "SIGTERM"] as const) {
			process.once(signal, () => process.exit(1));
		}
		mkdirSync(MUTANTS, { recursive: true });
		const all = candidates().filter(({ path }) => only.length === 0 || only.some((start) => path.startsWith(start)));
		const chosen = choose(all, count, seed);
		const lists = new Set(chosen.flatMap(({ near, wide }) => [near, wide]).filter(({ length }) => length > 0));
		const times = await measure(lists);
		const isKilled = async ({ path, source, own, near, wide }: Candidate): Promise<boolean> => {
			const replaced = { path: join(ROOT, path), source };
			for (const tests of [own, near, wide].filter(({ length }) => length > 0)) {
				const time = times.get(tests) ?? (times.get(near) as number);
				if ((await firstFailure(tests, MAX_SLOWDOWN * time, replaced)) !== undefined) {
					return true;
				}
			}
			return false;
		};
		const limit = pLimit(2);
		const survivors: Candidate[] = [];
		let done = 0;
		await Promise.all(
			chosen.map((mutant) =>
				limit(async () => {
					const killed = await isKilled(mutant);
					done += 1;
					if (!killed) {
						survivors.push(mutant);
						console.log(`${done}/${chosen.length} survived: ${mutant.path}:${mutant.line}: ${mutant.change}`);
					}
				}),
			),
		);
		const percent = (100 * (chosen.length - survivors.length)) / chosen.length;
		console.log(`${chosen.length - survivors.length} of ${chosen.length} killed: ${percent.toFixed(1)} %`);
		process.exitCode = percent < MIN_KILLED ? 1 : 0;
	});

await runProgram(program);
