import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, chooseEngine, type HeapReport } from "../../virtual-device/src/index.js";
import { cases } from "../support/scope.js";
import { skipIf } from "../support/skip-if.js";

// Costs of features on a 32-bit XS, whose slots are as large as a chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

/** How many servers are measured; the cost is that of one. The first one also makes what is made only once. */
const SERVERS = 10;

async function bundleCost(name: string): Promise<string> {
	return await bundle(fileURLToPath(new URL(`../fixtures/costs/${name}.ts`, import.meta.url)), true);
}

async function weigh(name: string): Promise<number[]> {
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
	return [loaded.slots, loaded.chunkBytes, perServer("slots"), perServer("chunkBytes")];
}

/** Budgets by feature: slots and chunk bytes of the loaded code, then of a server and session. "none" is a server with one tool. */
const BUDGETS: readonly (readonly [name: string, ...figures: number[]])[] = [
	["none", 5_880, 40_430, 82, 412],
	["features", 302, 3_544, 16, 2],
	["resources", 852, 13_406, 47, 85],
	["prompts", 659, 9_556, 31, 30],
	["completion", 495, 6_010, 26, 30],
	["logging", 463, 5_780, 34, 94],
	["schemas", 206, 3_673, 2, 2],
	["asking", 641, 11_888, 31, 43],
	["stateless", 940, 16_309, 48, 485],
	["everything", 2_556, 50_561, 130, 669],
];

it("firmware that imports no feature has none of their code", async () => {
	const script = await bundleCost("none");
	for (const method of ["resources/", "prompts/", "completion/", "logging/", "notifications/message", "uriTemplate"]) {
		assert.ok(!script.includes(method), method);
	}
});

describe("on a 32-bit XS", { skip: skipIf(whyNotXs) }, () => {
	for (const [name, ...budget] of cases(BUDGETS)) {
		it(`${name} stays within ${budget} slots and bytes`, async () => {
			const none = name === "none" ? [0, 0, 0, 0] : await weigh("none");
			const cost = (await weigh(name)).map((figure, at) => figure - (none[at] as number));
			assert.ok(
				cost.every((figure, at) => figure <= (budget[at] as number)),
				`${name} takes ${cost}`,
			);
		});
	}
});
