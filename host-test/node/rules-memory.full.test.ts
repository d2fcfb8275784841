import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import getPort from "get-port";
import { ROOT } from "xs-mcp/root";
import { bundle, chooseEngine, type HeapReport, VirtualDevice } from "xs-mcp-virtual-device";
import { skipIf, temporaryFolder } from "../support/testing.js";

// Heap of rules on a 32-bit XS, whose slots are as large as a chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

const RULES = 8;

const water = [{ tool: "self.switch.set", arguments: { name: "pump", on: true, seconds: 5 } }];

/** Rules by their kind, with the slots and chunk bytes that one may take. */
const BUDGETS = [
	["a limit of a sensor", { sensor: "soil", below: 30 }, [18, 300]],
	["an event", { event: "switch.changed", switch: "pump", on: true }, [18, 300]],
	["an interval", { every: 3600 }, [18, 300]],
] as const;

it("a build without the feature has none of its kind, tools and code", async () => {
	const folder = temporaryFolder();
	const include = ["minimal", "roomy"].map((name) => relative(folder, join(ROOT, `src/build/manifest_${name}.json`)));
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ include }));
	const script = await bundle(undefined, true, undefined, relative(ROOT, join(folder, "manifest.json")));
	assert.doesNotMatch(script, /"rules?"|self\.rule|rule_ran/);
});

describe("a rule on a 32-bit XS", { skip: skipIf(whyNotXs) }, () => {
	for (const [name, when, budget] of BUDGETS) {
		it(`by ${name} takes at most ${budget[0]} slots and ${budget[1]} bytes`, async (t) => {
			const http = await getPort({ host: "127.0.0.1" });
			const device = new VirtualDevice({
				firmware: await bundle(undefined, true, undefined, "examples/pump/manifest.json"),
				startEngine: (onTrace) => start({ onTrace }),
				config: { http, httpAddress: "127.0.0.1" },
			});
			t.after(() => device.stop());
			await device.start();
			const call = async (tool: string, args: object): Promise<void> => {
				const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
				const response = await fetch(`http://127.0.0.1:${http}/mcp`, {
					method: "POST",
					headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
					body: JSON.stringify(body),
				});
				assert.match(await response.text(), /"isError":false|"structuredContent"/);
			};
			const set = (index: number) =>
				call("self.rule.set", { name: `r${index}`, when, do: water, cooldown: 600, on: false });
			const heap = async (): Promise<HeapReport> => (await device.heap()) as HeapReport;
			// Objects that the first call makes stay.
			await set(0);
			await set(0);
			const before = await heap();
			for (let index = 1; index <= RULES; index += 1) {
				await set(index);
			}
			const after = await heap();
			const cost = [after.slots - before.slots, after.chunkBytes - before.chunkBytes].map((sum) => sum / RULES);
			t.diagnostic(`${cost[0]} slots, ${cost[1]} bytes`);
			assert.ok(
				cost.every((each, at) => each <= (budget[at] as number)),
				String(cost),
			);
		});
	}
});
