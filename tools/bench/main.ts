import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "xs-mcp/build/program";
import { chooseEngine, type EngineChoice, type HeapReport } from "xs-mcp-virtual-device";
import { buildXsHost } from "xs-mcp-virtual-device/build-xs";
import { encodeCommand } from "xs-mcp-virtual-device/xs-engine";
import { hostConfig, messages, OPERATIONS, type Operation, rounds, SERVER, SUITE, startServer } from "./engines.js";
import { MACHINE, makeReport, type Report } from "./report.js";

/** Rounds of the two runs that are compared: what the start takes is in both. */
const FEW = 50;
const MANY = 550;

/** Runs a program in callgrind, which counts its instructions. @throws Error with the program's last lines */
function countInstructions(command: readonly string[], input: Buffer | string): number {
	const args = ["--tool=callgrind", "--callgrind-out-file=/dev/null", ...command];
	const { stderr, status } = spawnSync("valgrind", args, { input, encoding: "utf8", maxBuffer: 2 ** 26 });
	const counted = /Collected : (\d+)/.exec(stderr)?.[1];
	if (status !== 0 || counted === undefined) {
		throw new Error(`callgrind: ${stderr.slice(-500)}`);
	}
	return Number(counted);
}

/** A heap of one size: one that grows has as many collections as its last step allows, which a byte more or less changes. */
const FIXED_HEAP: readonly string[] = ["--slots", "13000", "--chunk-bytes", "200000"];

/** A heap in which nothing is collected while an operation is counted. */
const WIDE_HEAP: readonly string[] = ["--slots", "400000", "--chunk-bytes", "60000000"];

/**
 * Counts the instructions of each operation, the collections of garbage in between included. They hardly differ from run to run.
 *
 * @param limits of the heap, as options of the host
 */
async function countOperations(choice: EngineChoice, limits: readonly string[]): Promise<Map<string, number>> {
	const host = await buildXsHost(64);
	const counts = new Map<string, number>();
	for (const operation of OPERATIONS) {
		const engine = await startServer(choice, operation.tools);
		const texts = await messages(engine, operation);
		engine.close();
		const run = (rounds: number): number =>
			countInstructions([host, "--seed", "1", ...limits], inputOf(operation, texts, rounds));
		counts.set(operation.name, Math.round((run(MANY) - run(FEW)) / (MANY - FEW)));
	}
	return counts;
}

/** Input of the engine's process. */
function inputOf({ tools }: Operation, texts: readonly string[], rounds: number): Buffer {
	const packets = [{ header: JSON.stringify(["bench", texts, rounds]) }];
	return Buffer.concat([
		encodeCommand({ kind: "run", script: hostConfig(tools) }),
		encodeCommand({ kind: "run", script: SERVER }),
		encodeCommand({ kind: "deliver", packets }),
	]);
}

/** Writes the table of instructions. */
export async function benchInstructions(choice: EngineChoice, { say, row, header }: Report): Promise<void> {
	say("## Instructions an operation, XS 13.3 (64-bit)");
	say();
	if (spawnSync("valgrind", ["--tool=callgrind", "--version"]).status !== 0) {
		say("Not counted: valgrind is not installed here.");
		return;
	}
	header("operation", "instructions", "without collections");
	const counts = await countOperations(choice, FIXED_HEAP);
	const uncollected = await countOperations(choice, WIDE_HEAP);
	for (const [name, count] of counts) {
		row(name, count.toLocaleString("en-US"), (uncollected.get(name) as number).toLocaleString("en-US"));
	}
	say();
	say(`Counted by valgrind's callgrind: they do not depend on what else the machine does. The heap has 13,000 slots and 200,000 bytes.
A collection takes longer here than on a chip, where built-ins and firmware are in flash: here they are marked and swept each time.`);
}

// npm run bench: instructions of a message and heap of the firmware. Writes its tables to the terminal and to tools/bench/results.md.

await runProgram(
	makeProgram("npm run bench --", "Measures the firmware on XS, and writes tools/bench/results.md.").action(() => {}),
);

const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
const CALLS = 100_000;

const report = makeReport();
const { say, row, header } = report;

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
}

const xs64 = await chooseEngine("xs", { bits: 64, onProgress: console.error });
const xs32 = await chooseEngine("xs", { bits: 32, onProgress: console.error });
say("# Benchmarks");
say();
say("Written by `npm run bench`. XS 13.3 is what npm has; the Moddable SDK's is newer.");
say(`${MACHINE}.`);
say();
if (xs32.whyNotXs !== undefined) {
	say(`No 32-bit XS here: ${xs32.whyNotXs.split("\n")[0]}`);
	say();
}
if (xs64.whyNotXs === undefined) {
	await benchInstructions(xs64, report);
	say();
	await benchHeap(xs32.whyNotXs === undefined ? xs32 : xs64);
}
writeFileSync(RESULTS, `${report.text()}\n`);
