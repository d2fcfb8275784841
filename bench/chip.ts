import { type Engine, type EngineChoice, EngineError, type HeapReport } from "../virtual-device/src/index.js";
import { CHIP_FREE, messages, rounds, startWithRoom } from "./engines.js";
import { OPERATIONS, type Operation } from "./operations.js";
import type { Report } from "./report.js";

const TIMES = 1_000;
/** The precision of the figure, in bytes. */
const STEP = 64;

/** The cost of each operation with a chip's heap: collections, and the chunk bytes that it needs. */
export async function benchChip(choice: EngineChoice, { say, row, header }: Report): Promise<void> {
	say(`## With a chip's heap: ${CHIP_FREE.slots} slots and ${CHIP_FREE.chunkBytes} chunk bytes free`);
	say();
	header("operation", `collections per ${TIMES}`, "chunk bytes it needs free");
	for (const operation of OPERATIONS) {
		const engine = await startWithRoom(choice, operation.tools);
		const texts = await messages(engine, operation);
		const collections = await countCollections(engine, texts);
		engine.close();
		row(operation.name, collections, await leastRoom(choice, operation, texts));
	}
}

async function countCollections(engine: Engine, texts: readonly string[]): Promise<number> {
	const before = (await engine.heap()) as HeapReport;
	await rounds(engine, texts, TIMES);
	const after = (await engine.heap()) as HeapReport;
	// The report collects, too.
	return after.collections - before.collections - 1;
}

/** Binary search for the smallest room. */
async function leastRoom(choice: EngineChoice, { tools }: Operation, texts: readonly string[]): Promise<number> {
	let tooSmall = 0;
	let enough = CHIP_FREE.chunkBytes;
	while (enough - tooSmall > STEP) {
		const chunkBytes = Math.floor((tooSmall + enough) / 2);
		if (await isEnough(choice, tools, texts, chunkBytes)) {
			enough = chunkBytes;
		} else {
			tooSmall = chunkBytes;
		}
	}
	return enough;
}

async function isEnough(
	choice: EngineChoice,
	tools: number,
	texts: readonly string[],
	chunkBytes: number,
): Promise<boolean> {
	let engine: Engine | undefined;
	try {
		engine = await startWithRoom(choice, tools, { ...CHIP_FREE, chunkBytes });
		await rounds(engine, texts, 10);
		return true;
	} catch (error) {
		if (error instanceof EngineError && error.code === "out-of-memory") {
			return false;
		}
		throw error;
	} finally {
		engine?.close();
	}
}
