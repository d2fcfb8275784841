import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { bundle, chooseEngine, type HeapReport } from "xs-mcp-virtual-device";
import { cases } from "../support/scope.js";
import { skipIf, temporaryFolder } from "../support/testing.js";

// Costs of features on a 32-bit XS, whose slots are as large as a chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

/** Number of servers that are measured; the cost is that of one. The first one also makes shared objects. */
const SERVERS = 10;

/** The modules of src/mcp_server/features that a feature is imported from, with the imported names. */
const FORMS = { schemas: "date, dateTime, email, matching, titledEnumeration, uri" };
const LOGGING = { logging: "Logging, log" };
const PROMPTS = { prompts: "Prompts, createPrompt, user, assistant" };
const RESOURCES = { resources: "Resources, createResource, embeddedResource" };
const ASKING = { "client-requests": "ClientRequests", elicit: "elicit", sample: "sample", roots: "roots" };
const COMPLETION = { completion: "Completion" };
const STATELESS = { stateless: "Stateless" };
const ALL = { ...FORMS, ...LOGGING, ...PROMPTS, ...RESOURCES, ...ASKING, ...COMPLETION, ...STATELESS };

/**
 * Budgets by feature: slots and chunk bytes of the loaded code, then of a server and session. "none" is a server with one
 * tool. The last two are the members of the server's set of features, if it has one, and the imports.
 */
const BUDGETS: readonly (readonly [
	name: string,
	budget: readonly number[],
	set?: string | undefined,
	imports?: Readonly<Record<string, string>>,
])[] = [
	["none", [5_850, 40_400, 83, 412]],
	["features", [400, 6_750, 16, 18], ""],
	["resources", [852, 14_600, 47, 101], "new Resources()", RESOURCES],
	["prompts", [659, 11_520, 31, 46], "new Prompts()", PROMPTS],
	["completion", [552, 9_280, 26, 46], "new Completion({})", COMPLETION],
	["logging", [514, 8_900, 34, 110], "new Logging()", LOGGING],
	["schemas", [206, 3_673, 2, 2], undefined, FORMS],
	["asking", [671, 14_180, 31, 59], "new ClientRequests()", ASKING],
	["stateless", [940, 16_309, 48, 485], "new Stateless()", STATELESS],
	[
		"everything",
		[2_556, 50_561, 130, 669],
		"new Resources(), new Prompts(), new Completion({}), new Logging(), new ClientRequests(), new Stateless()",
		ALL,
	],
];

/** Bundles a server with a set of features, if any, and keeps all its imports. */
async function bundleCost(set?: string, imports: Readonly<Record<string, string>> = {}): Promise<string> {
	const modules = Object.entries({ ...imports, ...(set !== undefined && { "feature-server": "FeatureServer" }) });
	const lines = modules.map(([module, names]) => importLine(names, `src/mcp_server/features/${module}.js`));
	const make = set === undefined ? "undefined" : `(options) => new FeatureServer([${set}], options)`;
	const entry = join(temporaryFolder(), "entry.ts");
	const serve = `serve(${make}, [${Object.values(imports).join()}]);`;
	writeFileSync(entry, [...lines, importLine("serve", "host-test/node/cost-server.js"), serve].join("\n"));
	return await bundle(entry, true);
}

const importLine = (names: string, path: string): string =>
	`import { ${names} } from ${JSON.stringify(join(ROOT, path))};`;

async function measure(...server: Parameters<typeof bundleCost>): Promise<number[]> {
	const script = await bundleCost(...server);
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

it("firmware that imports no feature has none of their code", async () => {
	const script = await bundleCost();
	for (const method of ["resources/", "prompts/", "completion/", "logging/", "notifications/message", "uriTemplate"]) {
		assert.ok(!script.includes(method), method);
	}
});

describe("on a 32-bit XS", { skip: skipIf(whyNotXs) }, () => {
	for (const [name, budget, ...server] of cases(BUDGETS)) {
		it(`${name} stays within ${budget} slots and bytes`, async () => {
			const none = name === "none" ? [0, 0, 0, 0] : await measure();
			const cost = (await measure(...server)).map((figure, at) => figure - (none[at] as number));
			assert.ok(
				cost.every((figure, at) => figure <= (budget[at] as number)),
				`${name} takes ${cost}`,
			);
		});
	}
});
