// npm run test:mutation: changes the sources in many small ways, one at a time, and counts how many changes a test notices.
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { InvalidArgumentError } from "commander";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { FULL_ONLY, ROOT, testsIn } from "../runner/select.js";
import { mutantsOf, type SwitchedMutant, withMutants } from "./mutants.js";
import { type Measurement, Place } from "./place.js";

const SUITES = readdirSync(`${ROOT}host-test/suites`)
	.filter((name) => name.endsWith(".suite.ts"))
	.map((name) => `host-test/suites/${name}`);

const MANAGER_TESTS = [
	"manager/registering",
	"manager/reload",
	...["asking", "extensions", "gateway", "pool", "stateless"].map((name) => `upstreams/${name}`),
];

/** The sources that are changed, and the tests that should notice. What all of the manager's and the proxy's would notice takes minutes. */
const ROOMS: readonly Room[] = [
	...["mcp_server", "mcp_server/features", "protocols", "text", "device_state"].map((name) => ({
		folder: `src/${name}`,
		tests: SUITES,
	})),
	{
		folder: "mcp-manager/src/core",
		tests: [
			...["mcp-manager/test/core", ...["mcp", "catalog", "devices"].map((name) => `gateway/test/${name}`)]
				.flatMap(testsIn)
				.filter((path) => !FULL_ONLY.test(path)),
			...MANAGER_TESTS.map((name) => `mcp-manager/test/${name}.test.ts`),
		],
	},
];

/** Per cent of the mutants that tests must notice. */
const MIN_KILLED = 92;

/** Milliseconds that a test file may take without a change. */
const MAX_TIME = 600_000;

/** A change counts as an endless loop after this many times what the tests take without it, and some seconds. */
const MAX_SLOWDOWN = 5;
const MIN_TIME = 20_000;

/** Mutants at a time. */
const CONCURRENCY = 2;

interface Room {
	readonly folder: string;
	readonly tests: readonly string[];
}

interface Candidate extends SwitchedMutant {
	readonly path: string;
	readonly tests: readonly string[];
}

function candidates(only: readonly string[]): Candidate[] {
	return ROOMS.flatMap(({ folder, tests }) =>
		readdirSync(`${ROOT}${folder}`)
			.filter((name) => /(?<!\.d)\.ts$/.test(name))
			.sort()
			.map((name) => `${folder}/${name}`)
			.filter((path) => only.length === 0 || only.some((start) => path.startsWith(start)))
			.flatMap((path) => mutantsOf(readSource(path)).map((mutant) => ({ ...mutant, path, tests }))),
	).map((mutant, id) => ({ ...mutant, id }));
}

function readSource(path: string): string {
	return readFileSync(`${ROOT}${path}`, "utf8");
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

/** Bundles tests of mutants as often as mutants are tried at a time. */
async function openPlaces(mutants: readonly Candidate[]): Promise<[Place, ...Place[]]> {
	const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
	const paths = [...new Set(mutants.map(({ path }) => path))];
	const sources = new Map(
		paths.map((path) => [
			path,
			withMutants(
				readSource(path),
				mutants.filter((mutant) => mutant.path === path),
			),
		]),
	);
	const open = (index: number): Promise<Place> =>
		Place.open(`${ROOT}.cache/mutants/${process.pid}-${index}`, tests, sources);
	const first = await open(0);
	return [first, ...(await Promise.all(Array.from({ length: CONCURRENCY - 1 }, (_, index) => open(index + 1))))];
}

/** Does something with each element, one at a time in each place. */
async function inPlaces<T>(
	places: readonly Place[],
	all: readonly T[],
	run: (place: Place, each: T) => Promise<void>,
): Promise<void> {
	const rest = [...all];
	await Promise.all(
		places.map(async (place) => {
			for (let each = rest.shift(); each !== undefined; each = rest.shift()) {
				await run(place, each);
			}
		}),
	);
}

/** The tests that run a mutant's code: first the file of the source's name, which notices most, then by their time. */
function testsOf({ id, path, tests }: Candidate, measured: ReadonlyMap<string, Measurement>): string[] {
	const time = (test: string): number =>
		basename(test).replace(/\.(test|suite)\.ts$/, ".ts") === basename(path) ? 0 : (measured.get(test)?.time ?? 0);
	return tests.filter((test) => measured.get(test)?.reached.has(id)).sort((a, b) => time(a) - time(b));
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
		const chosen = choose(candidates(only), count, seed);
		const places = await openPlaces(chosen);
		const measured = new Map<string, Measurement>();
		await inPlaces(places, [...new Set(chosen.flatMap(({ tests }) => tests))], async (place, test) => {
			measured.set(test, await place.measure(test, MAX_TIME));
		});
		const survivors: Candidate[] = [];
		let done = 0;
		await inPlaces(places, chosen, async (place, mutant) => {
			const tests = testsOf(mutant, measured);
			const time = tests.reduce((sum, test) => sum + (measured.get(test)?.time ?? 0), 0);
			const survived = tests.length === 0 || (await place.survives(mutant.id, tests, MIN_TIME + MAX_SLOWDOWN * time));
			done += 1;
			if (survived) {
				survivors.push(mutant);
				const outcome = tests.length === 0 ? "not run by a test" : "survived";
				console.log(`${done}/${chosen.length} ${outcome}: ${mutant.path}:${mutant.line}: ${mutant.change}`);
			}
		});
		const percent = (100 * (chosen.length - survivors.length)) / chosen.length;
		console.log(`${chosen.length - survivors.length} of ${chosen.length} killed: ${percent.toFixed(1)} %`);
		process.exitCode = percent < MIN_KILLED ? 1 : 0;
	});

await runProgram(program);
