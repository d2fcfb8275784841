import { spawnSync } from "node:child_process";
import type { EngineChoice } from "xs-mcp-virtual-device";
import { buildXsHost } from "../../packages/virtual-device/src/engine/build-xs.js";
import { encodeCommand } from "../../packages/virtual-device/src/engine/xs-protocol.js";
import { hostConfig, messages, OPERATIONS, type Operation, SERVER, startServer } from "./engines.js";
import type { Report } from "./report.js";

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

/** A heap in which nothing is collected while an operation is counted. */
const WIDE_HEAP: readonly string[] = ["--slots", "400000", "--chunk-bytes", "60000000"];

/**
 * Counts the instructions of each operation, the collections of garbage in between included. They hardly differ from run to run.
 *
 * @param limits of the heap, as options of the host
 */
async function countOperations(choice: EngineChoice, limits: readonly string[] = []): Promise<Map<string, number>> {
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
	const counts = await countOperations(choice);
	const uncollected = await countOperations(choice, WIDE_HEAP);
	for (const [name, count] of counts) {
		row(name, count.toLocaleString("en-US"), (uncollected.get(name) as number).toLocaleString("en-US"));
	}
	say();
	say(`Counted by valgrind's callgrind: they do not depend on what else the machine does. A collection takes longer here than on
a chip, where built-ins and firmware are in flash: here they are in the heap, and are marked and swept each time.`);
}
