// npm run bench:simulator: what the firmware holds of its memory, in Moddable's simulator. Prints a table.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Gateway, type Server, type Session, WebSocketDevices } from "../gateway/src/index.js";
import { callTool } from "../host-test/support/call-tool.js";
import { freePort } from "../host-test/support/port.js";
import { type MachineHeap, readHeap } from "../scripts/moddable/heap.js";
import { buildForSimulator } from "../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../scripts/moddable/sdk.js";
import { Simulator } from "../scripts/moddable/simulator.js";
import type { Samples } from "../scripts/moddable/xsbug.js";
import { makeProgram, runProgram } from "../toolchain/program.js";

const FOLDER = fileURLToPath(new URL("simulator", import.meta.url));
const CALLS = 1_000;
/** Milliseconds: more than the longest pause between two attempts of the firmware's. */
const CONNECT_TIMEOUT = 120_000;
/** Of the simulator, which has a 64-bit machine, and of a chip. */
const SLOT_BYTES = { simulator: 32, chip: 16 };
/** Samples that are waited for: the first may be of before what is measured. */
const SAMPLES = 3;

/** The heap once it has come to rest, with the most that the stack held while it did. */
async function measure(simulator: Simulator): Promise<MachineHeap> {
	let stack = 0;
	for (let sample = 1; ; sample += 1) {
		const [samples] = (await once(simulator, "samples")) as [Samples];
		const heap = readHeap(samples);
		if (heap === undefined) {
			throw new Error("the simulator does not measure its heap");
		}
		stack = Math.max(stack, heap.stack.used);
		if (sample >= SAMPLES) {
			return { ...heap, stack: { ...heap.stack, used: stack } };
		}
	}
}

function row(name: string, { slots, chunks, stack }: MachineHeap): void {
	const count = slots.used / SLOT_BYTES.simulator;
	const chip = (count * SLOT_BYTES.chip) / 1024;
	console.log(
		`| ${name} | ${count} of ${slots.available / SLOT_BYTES.simulator} | ${chip.toFixed(1)} KB | ${chunks.used} of ${chunks.available} | ${stack.used} of ${stack.available} |`,
	);
}

async function call(session: Session, count: number): Promise<void> {
	for (let made = 0; made < count; made += 2) {
		await callTool(session, "self.audio_speaker.set_volume", { volume: made % 101 });
		await callTool(session, "self.get_device_status");
	}
}

/** The heap before there is a backend, in a session, and after calls. */
async function run(simulator: Simulator, port: number): Promise<Readonly<Record<string, MachineHeap>>> {
	const booted = await measure(simulator);
	const gateway = await Gateway.open();
	const devices = new WebSocketDevices(gateway.servers, { port });
	const online = once(gateway.servers, "online", { signal: AbortSignal.timeout(CONNECT_TIMEOUT) });
	await devices.listen();
	const [{ session }] = (await online) as [Server & { readonly session: Session }];
	const inSession = await measure(simulator);
	await call(session, CALLS);
	const after = await measure(simulator);
	await gateway.close();
	await devices.close();
	return {
		"after boot, no backend there": booted,
		"connected, tools listed": inSession,
		[`after ${CALLS} calls`]: after,
	};
}

async function bench(sdk: Sdk): Promise<void> {
	const port = await freePort();
	const library = await buildForSimulator(sdk, FOLDER, [`backend=ws://127.0.0.1:${port}/`]);
	const simulator = await Simulator.start(sdk, library, { headless: true });
	simulator.once("ended", (reason) => {
		console.error(`The simulator ended: ${reason}`);
		process.exit(1);
	});
	const heaps = await run(simulator, port);
	console.log(`Heap in use, garbage apart: ${simulator.machine?.engine}, slots of ${SLOT_BYTES.simulator} bytes`);
	console.log();
	console.log(`| | slots | with a chip's slots of ${SLOT_BYTES.chip} bytes | chunk bytes | stack bytes, at most |`);
	console.log("| --- | --- | --- | --- | --- |");
	for (const [name, heap] of Object.entries(heaps)) {
		row(name, heap);
	}
	await simulator.stop();
}

const program = makeProgram("run bench:simulator", "Measures the firmware's memory in Moddable's simulator.");
await runProgram(
	program.action(async () => {
		const sdk = findSdk();
		if (sdk === undefined) {
			console.log(`Skipped: ${NO_SDK}`);
			return;
		}
		await bench(sdk);
	}),
);
