// npm run test:mutation: changes the sources in many small ways, one at a time, and counts how many changes a test notices.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { InvalidArgumentError } from "commander";
import pLimit from "p-limit";
import { makeProgram, runProgram } from "../../scripts/program.js";
import { bundleTests } from "../runner/bundle.js";
import { bundledPath, ROOT, testsIn } from "../runner/select.js";
import { type Mutant, mutantsOf } from "./mutants.js";

/** The sources that are changed, and the tests that should notice. */
const ROOMS = [
	...["mcp_server", "mcp_server/features", "protocols", "text", "device_state"].map((name) => ({
		folder: `src/${name}`,
		tests: ["host-test/node/suites.test.ts"],
	})),
	{ folder: "mcp-manager/src/core", tests: [...testsIn("mcp-manager/test/core"), ...testsIn("gateway/test/core")] },
];

/** Per cent of the mutants that tests must notice. */
const MIN_KILLED = 92;

/** Milliseconds after which a mutant counts as an endless loop: the tests take a few seconds. */
const MAX_TIME = 120_000;

interface Candidate extends Mutant {
	readonly path: string;
	readonly tests: readonly string[];
}

function candidates(): Candidate[] {
	return ROOMS.flatMap(({ folder, tests }) =>
		readdirSync(`${ROOT}${folder}`)
			.filter((name) => /(?<!\.d)\.ts$/.test(name))
			.sort()
			.flatMap((name) =>
				mutantsOf(readFileSync(`${ROOT}${folder}/${name}`, "utf8")).map((mutant) => ({
					...mutant,
					path: `${folder}/${name}`,
					tests,
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

/** Whether a test fails with this change. */
async function isKilled({ path, source, tests }: Candidate, folder: string): Promise<boolean> {
	try {
		await bundleTests(tests, { folder, replaced: { path: join(ROOT, path), source } });
	} catch {
		return true;
	}
	const urls = tests.map((test) => pathToFileURL(bundledPath(folder, test)).href);
	const entry = join(ROOT, "host-test/runner/entry.mjs");
	const child = spawn(process.execPath, ["--test-reporter=dot", entry, ...urls], {
		cwd: ROOT,
		stdio: "ignore",
		env: { ...process.env, XS_MCP_TEST_BUNDLE: folder },
	});
	const timer = setTimeout(() => child.kill("SIGKILL"), MAX_TIME);
	const [code] = (await once(child, "close")) as [number | null];
	clearTimeout(timer);
	rmSync(folder, { recursive: true, force: true });
	return code !== 0;
}

function wholeNumber(text: string): number {
	if (!/^\d+$/.test(text)) {
		throw new InvalidArgumentError("expected a whole number");
	}
	return Number(text);
}

const program = makeProgram("run test:mutation", "Counts how many small changes of the sources a test notices.")
	.option("--count <n>", "how many changes are tried", wholeNumber, 150)
	.option("--seed <n>", "which of them", wholeNumber, 20_261_122)
	.action(async ({ count, seed }: { count: number; seed: number }) => {
		const chosen = choose(candidates(), count, seed);
		const limit = pLimit(2);
		const survivors: Candidate[] = [];
		let done = 0;
		await Promise.all(
			chosen.map((mutant, index) =>
				limit(async () => {
					const killed = await isKilled(mutant, `${ROOT}.cache/mutants/${process.pid}-${index}`);
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
