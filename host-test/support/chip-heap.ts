import type { Engine, EngineChoice, HeapLimits, HeapReport } from "xs-mcp-virtual-device";
import { SERVER, startServer } from "../../tools/bench/engines.js";

/** Free memory of a chip in a session: docs/moddable.md, "Memory". */
export const CHIP_FREE: Required<Pick<HeapLimits, "slots" | "chunkBytes">> = { slots: 2_000, chunkBytes: 61_000 };

/** Extra chunk bytes and slots while the script is loaded, which a chip has in flash; taken away afterwards. */
const FOR_LOADING = { chunkBytes: 262_144, slots: 1_000 };

/** Slots of an object with one property. */
const OBJECT_SLOTS = 2;

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
	const limits = { slots: slots + room.slots + FOR_LOADING.slots, chunkBytes: chunkBytes + FOR_LOADING.chunkBytes };
	const engine = await startServer(choice, tools, limits, script);
	const objects = FOR_LOADING.slots / OBJECT_SLOTS;
	await engine.run(`globalThis.ballast=new ArrayBuffer(${FOR_LOADING.chunkBytes - room.chunkBytes});
		for(let i=0;i<${objects};i+=1)globalThis.objects={next:globalThis.objects}`);
	return engine;
}
