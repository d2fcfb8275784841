import type { Engine, EngineChoice, HeapLimits, HeapReport } from "../../packages/virtual-device/src/index.js";
import { SERVER, startServer } from "../../tools/bench/engines.js";

/** Free memory of a chip in a session: docs/moddable.md, "Memory". */
export const CHIP_FREE: Required<Pick<HeapLimits, "slots" | "chunkBytes">> = { slots: 2_000, chunkBytes: 61_000 };

/** Extra chunk bytes while the script is loaded; removed afterwards. */
const FOR_LOADING = 262_144;

/** A server whose heap has only this much free memory after its start. */
export async function startWithRoom(
	choice: EngineChoice,
	tools: number,
	room = CHIP_FREE,
	script = SERVER,
): Promise<Engine> {
	const unlimited = await startServer(choice, tools, undefined, script);
	const { slots, chunkBytes } = (await unlimited.heap()) as HeapReport;
	unlimited.close();
	const limits = { slots: slots + room.slots, chunkBytes: chunkBytes + FOR_LOADING };
	const engine = await startServer(choice, tools, limits, script);
	await engine.run(`globalThis.ballast=new ArrayBuffer(${FOR_LOADING - room.chunkBytes})`);
	return engine;
}
