import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import { followStatuses } from "../src/history/device-status.js";
import { STATUS } from "../testing/gateway.js";

/** Devices that answer when the test says so. */
function start(t: TestContext, count: number) {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	const servers = new EventEmitter();
	const statuses = followStatuses(servers as unknown as ServerRegistry);
	statuses.readAfterChanges(() => true);
	const pending: (() => void)[] = [];
	const call = () => new Promise<void>((resolve) => pending.push(resolve));
	const devices = Array.from({ length: count }, (_, index) => {
		return { id: `device ${index}`, online: true, tools: [STATUS], call } as unknown as Server;
	});
	return { servers, devices, pending };
}

describe("the statuses of devices", () => {
	it("are read a limited number at a time when thousands of devices have changed, each once", async (t) => {
		const { servers, devices, pending } = start(t, 1_000);
		for (const device of [...devices, ...devices]) {
			servers.emit("online", device);
		}
		t.mock.timers.tick(1_000);
		let read = 0;
		for (; read < devices.length; read += pending.splice(0).length) {
			await nextTurn();
			assert.ok(pending.length > 0 && pending.length <= 64, `${pending.length} requests at the same time`);
			// A device that waits and changes again is read once.
			servers.emit("online", devices.at(-1));
			t.mock.timers.tick(1_000);
			pending.forEach((answer) => void answer());
		}
		assert.equal(read, devices.length);
	});

	it("are read after a call that has failed: it may have changed the device", async (t) => {
		const { servers, devices, pending } = start(t, 1);
		const [server] = devices;
		const details = { server, tool: { name: "self.light.set", inputSchema: { type: "object" } } };
		servers.emit("call", { serverId: server?.id, outcome: "timeout", duration: 1 }, details);
		t.mock.timers.tick(1_000);
		await nextTurn();
		assert.equal(pending.length, 1);
	});
});
