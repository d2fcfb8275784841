// npm test: every suite on Node and on XS, and one path of each feature from end to end. npm run test:all: the full matrix.
// npm run test:simulator and test:esp32: the firmware in Moddable's simulator, and its image in QEMU.
import { findQemuTools } from "../scripts/moddable/qemu.js";
import { NO_SDK } from "../scripts/moddable/sdk.js";
import { makeProgram, ProgramError, runProgram } from "../scripts/program.js";
import { chooseEngine } from "../virtual-device/src/index.js";
import { openCoverage, reportCoverage } from "./runner/coverage.js";
import { runTests } from "./runner/run.js";
import { allTests, ESP32_TESTS, SIMULATOR_TESTS, testsFor, testsIn } from "./runner/select.js";
import { watchTests } from "./runner/watch.js";

interface Options {
	readonly all?: boolean;
	readonly coverage?: boolean;
	readonly times?: boolean;
	readonly watch?: boolean;
	readonly simulator?: boolean;
	readonly esp32?: boolean;
}

async function announceXs(): Promise<void> {
	const { whyNotXs } = await chooseEngine("xs", { onProgress: console.log });
	console.log(
		`Suites of the firmware: on Node ${process.version}${whyNotXs === undefined ? ", and the same on XS" : ""}`,
	);
	if (whyNotXs !== undefined) {
		console.log(`Not on XS: ${whyNotXs}`);
	}
}

/** One file after another: they build in the same folder, and share the simulator's stored settings. */
async function runInSimulator(): Promise<number> {
	console.log(
		process.env.MODDABLE
			? "In Moddable's simulator: built first, which takes a minute or two the first time"
			: `Not in Moddable's simulator: ${NO_SDK}`,
	);
	return await runTests(testsIn(SIMULATOR_TESTS), { concurrency: 1, isolate: true });
}

/** Likewise. */
async function runInQemu(): Promise<number> {
	const tools = findQemuTools();
	console.log(
		typeof tools === "string"
			? `Not in QEMU: ${tools}`
			: "On an ESP32-C3 in QEMU: its image is built first, which takes many minutes the first time",
	);
	return await runTests(testsIn(ESP32_TESTS), { concurrency: 1, isolate: true });
}

function select(paths: readonly string[], all: boolean): string[] {
	try {
		return paths.length > 0 ? [...new Set(paths.flatMap(testsFor))] : allTests({ full: all });
	} catch (error) {
		throw new ProgramError((error as Error).message);
	}
}

const program = makeProgram("test", "Runs the tests: every suite on Node and XS, and one path of each feature.")
	.argument("[paths...]", "only the tests of these files or folders, of tests or of sources")
	.option("--all", "the full matrix of engines, transports and revisions: npm run test:all")
	.option("--coverage", "tell which lines of the sources the tests run")
	.option("--times", "tell which files use most CPU")
	.option("--watch", "run again what a change affects: npm run test:watch")
	.option("--simulator", "only the firmware's, in Moddable's simulator: npm run test:simulator")
	.option("--esp32", "only the firmware's image, on an ESP32-C3 in QEMU: npm run test:esp32")
	.action(
		async (paths: string[], { all = false, coverage = false, times = false, watch, simulator, esp32 }: Options) => {
			if (esp32) {
				process.exitCode = await runInQemu();
				return;
			}
			if (simulator) {
				process.exitCode = await runInSimulator();
				return;
			}
			const tests = select(paths, all);
			if (watch) {
				await watchTests(tests);
			}
			if (paths.length === 0) {
				await announceXs();
			}
			const env = { XS_MCP_TESTS: all ? "all" : "", ...(coverage && openCoverage()) };
			const codes = [await runTests(tests, { env, times, flags: ["--expose-gc"] })];
			if (coverage) {
				codes.push(await reportCoverage());
			}
			if (all && process.env.MODDABLE) {
				codes.push(await runInSimulator());
			}
			process.exitCode = Math.max(...codes);
		},
	);

await runProgram(program);
