import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryStore } from "xs-mcp-manager/core";
import { NO_OFFERS } from "../../src/core/offers.js";
import type { ManagementCaller, McpManager } from "../../src/manager/index.js";
import { openManager, runTool } from "../support/manager.js";
import { connected, nodeServer, ODD_SERVER, openServers } from "../support/upstreams.js";

const odd = (id: string) => nodeServer(id, ODD_SERVER, "good");

/** Registers a notification handler, and gives the text of the answer. */
const register = async (manager: McpManager, caller: Partial<ManagementCaller> = {}): Promise<string> =>
	(await runTool(manager, "mcp_register_notification_handler", {}, caller)).text;

describe("registering", () => {
	it("keeps the first of two servers that are registered with one id at the same time", async (t) => {
		const manager = await openManager(t);
		const [first, second] = await Promise.allSettled([
			manager.registerServer(odd("one")),
			manager.registerServer(odd("one")),
		]);
		assert.equal(first.status, "fulfilled");
		assert.match(String(second.status === "rejected" && second.reason), /Connection 'one' already exists/);
		assert.equal((await manager.executeTool("echo", { text: "x" }, { server: "one" })).success, true);
	});

	it("keeps no notification handler of a client that has no session", async (t) => {
		const manager = await openManager(t);
		const before = manager.listenerCount("notification");
		const onHandler = (): never => {
			throw new Error("this needs a session");
		};
		assert.match(await register(manager, { onHandler }), /this needs a session/);
		assert.equal(manager.listenerCount("notification"), before);
	});

	it("limits the notification handlers", async (t) => {
		const manager = await openManager(t);
		for (let count = 0; count < 100; count += 1) {
			assert.match(await register(manager), /Registered/);
		}
		assert.match(await register(manager), /Error: too many notification handlers \(limit 100\)/);
	});

	it("takes no other server that has the alias for a server that is not connected", async (t) => {
		const { registry, server } = await connected(t, odd("FILES"));
		assert.equal(server.alias, "files");
		const manager = await openManager(t, { registry, servers: [{ ...odd("files"), enabled: false }] });
		const { error } = await manager.executeTool("echo", { text: "secret" }, { server: "files" });
		assert.equal(error?.message, "Connection 'files' is disconnected");
	});

	it("does not end with a device: the error says what keeps one away", async (t) => {
		const store = new MemoryStore();
		const { registry } = await openServers(t, {}, { store });
		const manager = await openManager(t, { registry });
		await store.set("alias/lamp", { device: "aa:bb" });
		await store.set("offers/none", NO_OFFERS);
		await store.set("device/aa:bb", { board: { name: "lamp", version: "1" }, offers: "none", lastSeen: 0 });
		const ids = manager.listConnections().map(({ id }) => id);
		assert.deepEqual(ids, ["lamp"]);
		await assert.rejects(manager.disconnect("lamp"), { message: /^'lamp' is a device.*switch it off/ });
		assert.equal(await manager.disconnect("nobody"), undefined);
	});
});
