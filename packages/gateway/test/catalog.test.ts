import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { until } from "../../../host-test/support/testing.js";
import { Gateway } from "../src/mcp/gateway.js";
import { LOCAL } from "../testing/gateway.js";
import { MemoryDevice } from "../testing/memory-device.js";

const toolNames = fc.uniqueArray(
	fc.oneof(
		fc.string({ unit: fc.constantFrom("a", "_", "."), minLength: 1, maxLength: 5 }),
		fc.string({ unit: fc.constantFrom("a", "_", "."), minLength: 35, maxLength: 128 }),
	),
	{ maxLength: 8 },
);
const fleet = fc.uniqueArray(
	fc.tuple(fc.stringMatching(/^[ab:_]{1,4}$/), fc.constantFrom("a", "a_a", "_"), toolNames),
	{
		selector: ([id]) => id,
		minLength: 2,
		maxLength: 6,
	},
);

it("the tools of several devices in a client's catalog have unique names that every client accepts and that lead to their device and tool", async () => {
	await fc.assert(
		fc.asyncProperty(fleet, async (devices) => {
			const gateway = await Gateway.open();
			for (const [id, board, names] of devices) {
				gateway.servers.connect(
					new MemoryDevice({ id, board, tools: names.map((name) => ({ name, inputSchema: {} })) }),
				);
			}
			await until(() => gateway.servers.all.length === devices.length, "all are known");
			const catalog = gateway.catalog(LOCAL);
			const found = catalog.lists.tools().map(({ name }) => {
				assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
				const found = catalog.findTool(name);
				return `${found?.server.id} ${found?.tool.name}`;
			});
			const all = devices.flatMap(([id, , names]) => names.map((name) => `${id} ${name}`));
			assert.equal(new Set(catalog.lists.tools().map(({ name }) => name)).size, all.length);
			assert.deepEqual(found.sort(), all.sort());
			await gateway.close();
		}),
		{ numRuns: 50 },
	);
});
