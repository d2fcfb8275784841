import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Gateway } from "../../src/gateway.js";
import { Device } from "../../src/servers/device.js";
import { DeviceHub } from "../../src/servers/device-hub.js";
import { LOCAL, until } from "../support/gateway.js";

/** Puts a device with these tools into a hub, at the other end of a link in memory. */
function plugIn(hub: DeviceHub, deviceId: string, board: string, names: readonly string[]): void {
	const results: Readonly<Record<string, object>> = {
		initialize: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: board, version: "1" } },
		"tools/list": { tools: names.map((name) => ({ name, inputSchema: {} })) },
	};
	const device: Device = new Device({
		identity: { deviceId, clientId: deviceId, transport: "memory" },
		sessionId: "s",
		send(message) {
			const { id, method } = (message as unknown as { payload: { id?: number; method: string } }).payload;
			if (id !== undefined) {
				queueMicrotask(() => device.receive({ jsonrpc: "2.0", id, result: results[method] }));
			}
		},
		close() {},
	});
	hub.add(device);
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

describe("the tools that a host sees of several devices", () => {
	it("have names that are never alike, that every host takes, and that lead to their device and tool", async () => {
		await fc.assert(
			fc.asyncProperty(fleet, async (devices) => {
				const hub = new DeviceHub();
				const gateway = await Gateway.open(hub);
				for (const [id, board, names] of devices) {
					plugIn(hub, id, board, names);
				}
				await until(() => gateway.devices.all.length === devices.length, "all are known");
				const scope = gateway.scope(LOCAL);
				const found = scope.tools.map(({ name }) => {
					assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
					const { known, tool } = scope.find(name);
					return `${known.id} ${tool.name}`;
				});
				const all = devices.flatMap(([id, , names]) => names.map((name) => `${id} ${name}`));
				assert.equal(new Set(scope.tools.map(({ name }) => name)).size, all.length);
				assert.deepEqual(found.sort(), all.sort());
				await gateway.close();
			}),
			{ numRuns: 50 },
		);
	});
});
