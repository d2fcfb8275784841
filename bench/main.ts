// npm run bench: how fast and how large. Writes a table to the terminal and to bench/results.md.
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "../toolchain/program.js";
import {
	bundle,
	chooseEngine,
	type Engine,
	type EngineChoice,
	type HeapReport,
	VirtualDevice,
} from "../virtual-device/src/index.js";
import { benchChip } from "./chip.js";
import { reportCppCore } from "./cpp-core.js";
import { CHIP_FREE, messages, rounds, startServer, startWithRoom } from "./engines.js";
import { benchInstructions } from "./instructions.js";
import { OPERATIONS, type Operation, SUITE } from "./operations.js";
import { makeReport } from "./report.js";

await runProgram(
	makeProgram("run bench", "Measures the firmware on XS and on Node, and writes bench/results.md.").action(() => {}),
);

const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
const CALLS = 100_000;
const MEASURE_MS = 400;

const report = makeReport();
const { say, row, header, write } = report;

/** Microseconds a round takes: the best of three, each long enough for the clock. */
async function time(engine: Engine, operation: Operation): Promise<number> {
	const texts = await messages(engine, operation);
	let count = 50;
	let best = Number.POSITIVE_INFINITY;
	for (let measured = 0; measured < 3; ) {
		const begin = performance.now();
		await rounds(engine, texts, count);
		const took = performance.now() - begin;
		if (took < MEASURE_MS / 2) {
			count = Math.ceil((count * MEASURE_MS) / Math.max(took, 1));
		} else {
			best = Math.min(best, (took * 1000) / count);
			measured += 1;
		}
	}
	return best;
}

/** @returns the microseconds of each operation on the first engine */
async function benchSpeed(choices: readonly EngineChoice[]): Promise<Map<string, number>> {
	const columns: { name: string; times: number[] }[] = [];
	for (const choice of choices) {
		const times: number[] = [];
		let name = "";
		for (const operation of OPERATIONS) {
			const engine = await startServer(choice, operation.tools);
			name = engine.name;
			times.push(await time(engine, operation));
			engine.close();
		}
		columns.push({ name, times });
	}
	say("## Speed: microseconds an operation, and operations a second");
	say();
	header("operation", ...columns.flatMap(({ name }) => [`${name}: µs`, "per s"]));
	for (const [at, { name }] of OPERATIONS.entries()) {
		row(
			name,
			...columns.flatMap(({ times }) => [(times[at] as number).toFixed(1), Math.round(1e6 / (times[at] as number))]),
		);
	}
	say();
	say(
		"An operation is a message in its envelope, as text, to the answer in its envelope, as text. A list is all of its pages.",
	);
	return new Map(OPERATIONS.map(({ name }, at) => [name, columns[0]?.times[at] as number]));
}

async function benchHeap(choice: EngineChoice): Promise<void> {
	const bare = await choice.start({});
	const builtIns = (await bare.heap()) as HeapReport;
	bare.close();
	const engine = await startServer(choice, 20);
	const booted = (await engine.heap()) as HeapReport;
	await rounds(engine, SUITE, 1);
	const warm = (await engine.heap()) as HeapReport;
	await rounds(engine, SUITE, Math.ceil(CALLS / SUITE.length));
	const after = (await engine.heap()) as HeapReport;
	say(`## Heap: the MCP server with 20 tools and those for users, ${engine.name}, slots of ${booted.slotBytes} bytes`);
	say();
	header("", "slots", "chunk bytes");
	row("XS's built-ins (in flash on an ESP32)", builtIns.slots, builtIns.chunkBytes);
	row("after boot, beyond built-ins", booted.slots - builtIns.slots, booted.chunkBytes - builtIns.chunkBytes);
	row("after the suite once", warm.slots - builtIns.slots, warm.chunkBytes - builtIns.chunkBytes);
	row(`after ${CALLS} messages`, after.slots - builtIns.slots, after.chunkBytes - builtIns.chunkBytes);
	engine.close();
	await benchBudget(choice);
	await benchWhole(choice, builtIns);
}

/** The whole program of a virtual device: server, tools, application, session, board, and the stand-ins for Moddable's modules. */
async function benchWhole(choice: EngineChoice, builtIns: HeapReport): Promise<void> {
	const device = new VirtualDevice({
		firmware: await bundle(undefined, true),
		startEngine: (onTrace) => choice.start({ onTrace }),
		config: { backend: "ws://127.0.0.1:1/" },
	});
	await device.start();
	const { slots, chunkBytes } = (await device.heap()) as HeapReport;
	device.stop();
	const [moreSlots, moreBytes] = [slots - builtIns.slots, chunkBytes - builtIns.chunkBytes];
	say(
		`The whole firmware with the virtual board and its stand-ins takes ${moreSlots} slots and ${moreBytes} chunk bytes beyond`,
	);
	say("built-ins here, where all code is in the heap. On an ESP32 code and tool tables are preloaded into flash.");
}

/** Runs the whole suite, message by message, with as much free heap as a chip has. */
async function benchBudget(choice: EngineChoice): Promise<void> {
	let verdict = "served";
	try {
		const engine = await startWithRoom(choice, 20);
		for (let round = 0; round < 100; round += 1) {
			for (const text of SUITE) {
				await rounds(engine, [text], 1);
			}
		}
		engine.close();
	} catch (error) {
		verdict = `NOT served: ${(error as Error).message}`;
		process.exitCode = 1;
	}
	say();
	say(`With ${CHIP_FREE.slots} slots and ${CHIP_FREE.chunkBytes} chunk bytes free the whole suite is ${verdict}.`);
}

const xs64 = await chooseEngine("xs", { bits: 64, onProgress: console.error });
const xs32 = await chooseEngine("xs", { bits: 32, onProgress: console.error });
const v8 = await chooseEngine("v8");
say("# Benchmarks");
say();
say("Written by `npm run bench`. XS 13.3 is what npm has; the Moddable SDK's is newer.");
say(`${cpus()[0]?.model ?? "CPU"}, ${availableParallelism()} cores, Node ${process.version}.`);
say();
const times = await benchSpeed([xs64, xs32, v8].filter((choice) => choice === v8 || choice.whyNotXs === undefined));
say();
if (xs32.whyNotXs !== undefined) {
	say(`No 32-bit XS here: ${xs32.whyNotXs.split("\n")[0]}`);
	say();
}
if (xs64.whyNotXs === undefined) {
	const instructions = await benchInstructions(xs64, report);
	say();
	reportCppCore({ times, instructions }, report);
	say();
	const smallest = xs32.whyNotXs === undefined ? xs32 : xs64;
	await benchChip(smallest, report);
	say();
	await benchHeap(smallest);
}
write(RESULTS);
