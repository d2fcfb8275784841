// npm run test:mutation: changes the sources in many small ways, one at a time, and counts how many changes a test notices.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { InvalidArgumentError } from "commander";
import pLimit from "p-limit";
import { makeProgram, ProgramError, runProgram } from "../../scripts/program.js";
import { type BundleOptions, bundleTests } from "../runner/bundle.js";
import { bundledPath, FULL_ONLY, ROOT, testsIn } from "../runner/select.js";
import { type Mutant, mutantsOf } from "./mutants.js";

const ENTRY = fileURLToPath(new URL("entry.mjs", import.meta.url));
const REPORTER = new URL("first-failure.mjs", import.meta.url).href;

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
}

function quickTestsIn(...folders: string[]): string[] {
	return folders.flatMap(testsIn).filter((path) => !FULL_ONLY.test(path));
}

function candidates(): Candidate[] {
	return ROOMS.flatMap((room) =>
		readdirSync(`${ROOT}${room.folder}`)
			.filter((name) => /(?<!\.d)\.ts$/.test(name))
			.sort()
			.flatMap((name) =>
				mutantsOf(readFileSync(`${ROOT}${room.folder}/${name}`, "utf8")).map((mutant) => ({
					...mutant,
					...room,
					path: `${room.folder}/${name}`,
				})),
			),
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

/** Runs tests up to the first that fails, or does not end in time. Resolves to what failed; undefined if all passed. */
async function firstFailure(
	tests: readonly string[],
	maxTime: number,
	replaced?: BundleOptions["replaced"],
): Promise<string | undefined> {
	const folder = mkdtempSync(`${ROOT}.cache/mutants/`);
	try {
		await bundleTests(tests, { folder, ...(replaced && { replaced }) });
	} catch (error) {
		return (error as Error).message;
	}
	const urls = tests.map((test) => pathToFileURL(bundledPath(folder, test)).href);
	const child = spawn(process.execPath, ["--test-reporter", REPORTER, ENTRY, ...urls], {
		cwd: ROOT,
		stdio: ["ignore", "pipe", "ignore"],
		// A group of its own, so that what a test that failed has started ends with it.
		detached: true,
		env: { ...process.env, XS_MCP_TEST_BUNDLE: folder },
	});
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	const stop = (): void => {
		try {
			process.kill(-(child.pid as number), "SIGKILL");
		} catch {
			// Every process of the group has ended.
		}
	};
	const timer = setTimeout(stop, maxTime);
	process.once("exit", stop);
	const closed = once(child, "close");
	const [code] = (await once(child, "exit")) as [number | null];
	clearTimeout(timer);
	process.off("exit", stop);
	stop();
	await closed;
	rmSync(folder, { recursive: true, force: true });
	return code === 0 ? undefined : output || `exit code ${code}`;
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
		mkdirSync(`${ROOT}.cache/mutants`, { recursive: true });
		const all = candidates().filter(({ path }) => only.length === 0 || only.some((start) => path.startsWith(start)));
		const chosen = choose(all, count, seed);
		const lists = new Set(chosen.flatMap(({ near, wide }) => [near, wide]).filter(({ length }) => length > 0));
		const times = await measure(lists);
		const isKilled = async ({ path, source, near, wide }: Candidate): Promise<boolean> => {
			for (const tests of [near, wide]) {
				const time = times.get(tests);
				const replaced = { path: join(ROOT, path), source };
				if (time !== undefined && (await firstFailure(tests, MAX_SLOWDOWN * time, replaced)) !== undefined) {
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
