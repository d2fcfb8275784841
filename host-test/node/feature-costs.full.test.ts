import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, chooseEngine, type HeapReport } from "../../virtual-device/src/index.js";
import { cases } from "../support/scope.js";
import { skipIf } from "../support/skip-if.js";

// Costs of features on a 32-bit XS, whose slots are as large as a chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

interface Cost {
	/** Of the code and what is made as it is loaded: on a chip this is in flash. */
	readonly loaded: { readonly slots: number; readonly chunkBytes: number };
	/** Of a server with the feature, and a session: on a chip this is in the heap. */
	readonly made: { readonly slots: number; readonly chunkBytes: number };
}

/** How many servers are measured; the cost is that of one. The first one also makes what is made only once. */
const SERVERS = 10;

async function bundleCost(name: string): Promise<string> {
	return await bundle(fileURLToPath(new URL(`../fixtures/costs/${name}.ts`, import.meta.url)), true);
}

/** Weighs `host-test/fixtures/costs/NAME.ts`. */
async function weigh(name: string): Promise<Cost> {
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

/** The figures may be so much larger than the document says, and have to be written down again beyond that. */
const TOLERANCE = 1.15;

const document = readFileSync(fileURLToPath(new URL("../../docs/beyond-tools.md", import.meta.url)), "utf8");

/** The rows of the document's table: a feature and its four figures. */
const rows = [...document.matchAll(/^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(
	([, name, ...figures]) => ({ name: name as string, figures: figures.map((each) => Number(each.replace(",", ""))) }),
);

/** The figures of a server with tools alone: the document's other table. */
function toolsAlone(): number[] {
	const [, ...figures] = /^\| one tool \| ([\d,]+) \| ([\d,]+) \| (\d+) \| (\d+) \|/m.exec(document) ?? [];
	return figures.map((each) => Number(each.replace(",", "")));
}

function figuresOf({ loaded, made }: Cost): number[] {
	return [loaded.slots, loaded.chunkBytes, made.slots, made.chunkBytes];
}

it("firmware that imports no feature has none of their code", async () => {
	const script = await bundleCost("none");
	for (const method of ["resources/", "prompts/", "completion/", "logging/", "notifications/message", "uriTemplate"]) {
		assert.ok(!script.includes(method), method);
	}
});

describe("on a 32-bit XS", { skip: skipIf(whyNotXs) }, () => {
	it("a server with tools alone takes no more than docs/beyond-tools.md says", async () => {
		const documented = toolsAlone();
		assert.equal(documented.length, 4);
		const figures = figuresOf(await weigh("none"));
		assert.ok(
			figures.every((figure, at) => figure <= (documented[at] as number)),
			`${figures} where the document has ${documented}`,
		);
	});

	it("each feature costs what docs/beyond-tools.md says", async () => {
		const none = figuresOf(await weigh("none"));
		assert.equal(rows.length, 9);
		for (const { name, figures } of cases(rows)) {
			const weighed = figuresOf(await weigh(name)).map((figure, at) => figure - (none[at] as number));
			for (const [at, figure] of weighed.entries()) {
				assert.ok(
					figure <= (figures[at] as number) * TOLERANCE + 2,
					`${name}: ${weighed} where the document has ${figures}`,
				);
			}
		}
	});
});
