// npm run bench: instructions of a message and heap of the firmware. Writes its tables to the terminal and to tools/bench/results.md.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chooseEngine, type EngineChoice, type HeapReport } from "xs-mcp-virtual-device";
import { makeProgram, runProgram } from "../../packages/xs-mcp/src/build/program.js";
import { rounds, SUITE, startServer } from "./engines.js";
import { benchInstructions } from "./instructions.js";
import { MACHINE, makeReport } from "./report.js";

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
