import { fileURLToPath } from "node:url";
import { bundle, chooseEngine, type HeapReport } from "../../virtual-device/src/index.js";

// Costs of features on a 32-bit XS, whose slots are as large as a chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

export { whyNotXs };

export interface Cost {
	/** Of the code and what is made as it is loaded: on a chip this is in flash. */
	readonly loaded: { readonly slots: number; readonly chunkBytes: number };
	/** Of a server with the feature, and a session: on a chip this is in the heap. */
	readonly made: { readonly slots: number; readonly chunkBytes: number };
}

/** How many servers are measured; the cost is that of one. The first one also makes what is made only once. */
const SERVERS = 10;

export async function bundleCost(name: string): Promise<string> {
	return await bundle(fileURLToPath(new URL(`../fixtures/costs/${name}.ts`, import.meta.url)), true);
}

/** Weighs `host-test/fixtures/costs/NAME.ts`. */
export async function weigh(name: string): Promise<Cost> {
	const script = await bundleCost(name);
	const engine = await start({});
	await engine.run(`globalThis.hostConfig=${JSON.stringify({ config: {}, settings: {}, macAddress: "" })}`);
	await engine.run(script);
	const heap = async (): Promise<HeapReport> => (await engine.heap()) as HeapReport;
	const loaded = await heap();
	await engine.deliver([{ header: ["serve"] }]);
	const first = await heap();
	await engine.deliver(Array.from({ length: SERVERS }, () => ({ header: ["serve"] as [string] })));
	const last = await heap();
	engine.close();
	const perServer = (key: "slots" | "chunkBytes"): number => Math.round((last[key] - first[key]) / SERVERS);
	return { loaded, made: { slots: perServer("slots"), chunkBytes: perServer("chunkBytes") } };
}
