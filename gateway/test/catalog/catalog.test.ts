import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { until } from "../../../host-test/support/until.js";
import { DeviceTransport } from "../../src/devices/device-transport.js";
import { Gateway } from "../../src/mcp/gateway.js";
import { LOCAL } from "../support/gateway.js";

/** A device with these tools, at the other end of a connection in memory. */
class MemoryDevice extends DeviceTransport {
	readonly #results: Readonly<Record<string, object>>;

	constructor(id: string, board: string, names: readonly string[]) {
		super({ id, clientId: id, transport: "memory" }, { maxMessageBytes: 65_536 });
		this.#results = {
			initialize: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: board, version: "1" } },
			"tools/list": { tools: names.map((name) => ({ name, inputSchema: {} })) },
		};
	}

	protected override write(text: string): void {
		const { id, method } = JSON.parse(text).payload as { id?: number; method: string };
		if (id !== undefined) {
			queueMicrotask(() =>
				this.receive({ type: "mcp", payload: { jsonrpc: "2.0", id, result: this.#results[method] } }),
			);
		}
	}

	protected override disconnect(): void {}
}

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

describe("the tools of several devices in a client's catalog", () => {
	it("have unique names that every client accepts and that lead to their device and tool", async () => {
		await fc.assert(
			fc.asyncProperty(fleet, async (devices) => {
				const gateway = await Gateway.open();
				for (const [id, board, names] of devices) {
					gateway.servers.connect(new MemoryDevice(id, board, names));
				}
				await until(() => gateway.servers.all.length === devices.length, "all are known");
				const catalog = gateway.catalog(LOCAL);
				const found = catalog.tools.map(({ name }) => {
					assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
					const found = catalog.findTool(name);
					return `${found?.server.id} ${found?.tool.name}`;
				});
				const all = devices.flatMap(([id, , names]) => names.map((name) => `${id} ${name}`));
				assert.equal(new Set(catalog.tools.map(({ name }) => name)).size, all.length);
				assert.deepEqual(found.sort(), all.sort());
				await gateway.close();
			}),
			{ numRuns: 50 },
		);
	});
});
