// npm run bench: how fast and how large. Writes a table to the terminal and to bench/results.md.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { Gateway, WebSocketDevices } from "../gateway/src/index.js";
import { callTool } from "../host-test/support/call-tool.js";
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
import { benchFace } from "./face.js";
import { benchInstructions } from "./instructions.js";
import { OPERATIONS, type Operation, SUITE } from "./operations.js";
import { makeReport } from "./report.js";

await runProgram(
	makeProgram("run bench", "Measures the firmware on XS and on Node, and writes bench/results.md.").action(() => {}),
);

const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
const DEVICES = 100;
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

/** All that a virtual device runs: server, tools, application, session, board, and what stands in for Moddable's modules. */
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

/** Kilobytes that a process has to itself. */
function privateKilobytes(pid: string): number {
	const fields = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^Private_\w+:\s+(\d+) kB/gm);
	return [...fields].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
}

/** The engines of the devices: this process's children. Linux only. */
function children(): string[] {
	return readdirSync("/proc").filter((pid) => {
		try {
			return (
				/^\d+$/.test(pid) &&
				readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(process.pid)
			);
		} catch {
			return false;
		}
	});
}

async function benchDevices(choice: EngineChoice): Promise<void> {
	const gateway = await Gateway.open();
	const { servers } = gateway;
	const sockets = new WebSocketDevices(servers, { port: 0 });
	const backend = `ws://127.0.0.1:${await sockets.listen()}/`;
	const firmware = await bundle();
	const devices = Array.from(
		{ length: DEVICES },
		() => new VirtualDevice({ firmware, startEngine: (onTrace) => choice.start({ onTrace }), config: { backend } }),
	);
	const times: number[] = [];
	for (const device of devices) {
		const connected = once(servers, "connected");
		const begin = performance.now();
		await device.start();
		await connected;
		times.push(performance.now() - begin);
	}
	const called = await Promise.all(servers.sessions.map((session) => callTool(session, "self.get_device_status")));
	times.sort((a, b) => a - b);
	say(`## ${DEVICES} virtual devices on one machine, ${devices[0]?.engineName}`);
	say();
	header("", "");
	row("connected, and their status read", called.length);
	row("boot to session, median", `${times[DEVICES / 2]?.toFixed(0)} ms`);
	row("boot to session, slowest", `${times.at(-1)?.toFixed(0)} ms`);
	if (process.platform === "linux") {
		const memory = children()
			.map(privateKilobytes)
			.sort((a, b) => a - b);
		row(
			"memory of an engine's process, median",
			`${((memory[Math.floor(memory.length / 2)] ?? 0) / 1024).toFixed(1)} MB`,
		);
		row(
			"Node, with the gateway and the devices' sockets",
			`${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB in all`,
		);
	}
	for (const device of devices) {
		device.stop();
	}
	await gateway.close();
	await sockets.close();
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
	await benchFace(xs64, report);
	say();
	const smallest = xs32.whyNotXs === undefined ? xs32 : xs64;
	await benchChip(smallest, report);
	say();
	await benchHeap(smallest);
	say();
	await benchDevices(xs64);
}
write(RESULTS);
