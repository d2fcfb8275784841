// npm test: every suite on Node and on XS, and one path of each feature from end to end. npm run test:all: the full matrix.
// npm test -- --simulator and test:esp32: the firmware in Moddable's simulator, and its image in QEMU.
import { availableParallelism } from "node:os";
import { makeProgram, ProgramError, runProgram } from "xs-mcp/build/program";
import { NO_SDK } from "xs-mcp/moddable/sdk";
import { chooseEngine } from "xs-mcp-virtual-device";
import { findChips } from "./esp32/qemu.js";
import { affectedBy, type Bundle, bundleTests } from "./runner/bundle.js";
import { openCoverage, RECORDED_BUNDLE, reportCoverage } from "./runner/coverage.js";
import { LONG_SILENCE, runBundle, runTests } from "./runner/run.js";
import { allTests, ESP32_TESTS, FULL_ONLY, SCOPE, SIMULATOR_TESTS, testsFor, testsIn } from "./runner/select.js";
import { watchTests } from "./runner/watch.js";

interface Options {
	readonly all?: boolean;
	readonly rest?: boolean;
	readonly recordCoverage?: boolean;
	readonly coverage?: boolean;
	readonly watch?: boolean;
	readonly simulator?: boolean;
	readonly esp32?: boolean;
}

/** Builds the XS engine here: several test processes would each build it. */
async function announceXs(all: boolean): Promise<void> {
	const { whyNotXs } = await chooseEngine("xs", { onProgress: console.log });
	console.log(
		`Suites of the firmware: on Node ${process.version}${whyNotXs === undefined ? ", and the same on XS" : ""}`,
	);
	if (whyNotXs !== undefined) {
		console.log(`Not on XS: ${whyNotXs}`);
		return;
	}
	if (all) {
		// The 32-bit machine has the memory of a chip.
		await chooseEngine("xs", { bits: 32, onProgress: console.log });
	}
}

/** One file after another: they build in the same folder, and share the simulator's stored settings. */
async function runInSimulator(tests = testsIn(SIMULATOR_TESTS)): Promise<number> {
	console.log(
		process.env.MODDABLE
			? "In Moddable's simulator: built first, which takes a minute or two the first time"
			: `Not in Moddable's simulator: ${NO_SDK}`,
	);
	return await runTests(tests, { concurrency: 1, isolate: true, maxSilence: LONG_SILENCE });
}

/** Runs the tests on the emulated chips. Each file keeps one core busy. */
async function runInQemu(tests = testsIn(ESP32_TESTS)): Promise<number> {
	for (const { title, tools } of findChips()) {
		console.log(
			typeof tools === "string"
				? `Not on ${title} in QEMU: ${tools}`
				: `On ${title} in QEMU: its image is built first, which takes many minutes the first time`,
		);
	}
	return await runTests(tests, { concurrency: availableParallelism(), isolate: true, maxSilence: LONG_SILENCE });
}

function select(paths: readonly string[], all: boolean): string[] {
	try {
		return paths.length > 0 ? [...new Set(paths.flatMap(testsFor))] : allTests({ full: all });
	} catch (error) {
		throw new ProgramError((error as Error).message);
	}
}

function widerTests({ inputs }: Bundle, tests: readonly string[]): string[] {
	const withMatrix = affectedBy([SCOPE], tests, inputs);
	return tests.filter((path) => FULL_ONLY.test(path) || withMatrix.includes(path));
}

async function runOnNode(
	paths: readonly string[],
	{ rest = false, all = rest, coverage = false, recordCoverage = coverage, watch = false }: Options,
): Promise<number> {
	const begin = performance.now();
	const tests = select(paths, all);
	if (watch) {
		await watchTests(tests);
	}
	const env = { XS_MCP_TESTS: all ? "all" : "", ...(recordCoverage && openCoverage(rest)) };
	const [bundle] = await Promise.all([
		bundleTests(tests, recordCoverage && !coverage ? RECORDED_BUNDLE : {}),
		paths.length === 0 && announceXs(all),
	]);
	const chosen = rest ? widerTests(bundle, tests) : tests;
	const codes = [await runBundle(bundle, chosen, { env, flags: ["--expose-gc"] }, begin)];
	if (coverage) {
		codes.push(await reportCoverage());
	}
	if (all && process.env.MODDABLE) {
		codes.push(await runInSimulator());
	}
	return Math.max(...codes);
}

const program = makeProgram("npm test --", "Runs the tests: every suite on Node and XS, and one path of each feature.")
	.argument("[paths...]", "only the tests of these files or folders, of tests or of sources")
	.option("--all", "the full matrix of engines, transports and revisions: npm run test:all")
	.option("--rest", "of the full matrix only the files that run otherwise than in npm test: for after it")
	.option("--record-coverage", "write which lines the tests run, for --rest --coverage after it")
	.option("--coverage", "tell which lines of the sources the tests run")
	.option("--watch", "run again what a change affects: npm test -- --watch")
	.option("--simulator", "only the firmware's, in Moddable's simulator: npm test -- --simulator")
	.option("--esp32", "only the firmware's image, on the chips that QEMU emulates: npm test -- --esp32")
	.action(async (paths: string[], options: Options) => {
		const named = paths.length > 0 ? select(paths, true) : undefined;
		if (options.esp32) {
			process.exitCode = await runInQemu(named);
		} else if (options.simulator) {
			process.exitCode = await runInSimulator(named);
		} else {
			process.exitCode = await runOnNode(paths, options);
		}
	});

await runProgram(program);
