import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { serverConfig } from "../../src/upstreams/server-config.js";
import { nodeServer, ODD_SERVER, openServers } from "../support/upstreams.js";

const config = (id: string) => serverConfig(nodeServer(id, ODD_SERVER));

describe("the pool of connections", () => {
	it("closes the idle connection that was not used for the longest time, and opens it again for a call", async (t) => {
		const { servers } = await openServers(t, { maxConnections: 2 });
		const [one, two, three] = ["one", "two", "three"].map((id) => servers.add(config(id)));
		assert.ok(one && two && three);
		await one.connect();
		const second = await two.connect();
		const first = one.server;
		const echo = first?.tools.find(({ name }) => name === "echo");
		assert.ok(first && echo);
		await first.calls.call("test", echo, { text: "used" });
		await three.connect();
		assert.deepEqual([one.status, two.status, three.status], ["connected", "disconnected", "connected"]);
		const result = await second.calls.call("test", echo, { text: "woken" });
		assert.deepEqual(result.content, [{ type: "text", text: "echo: woken" }]);
		assert.deepEqual([one.status, two.status, three.status], ["disconnected", "connected", "connected"]);
	});

	it("keeps healthy connections if another server cannot be connected", async (t) => {
		const { servers } = await openServers(t, { maxConnections: 1 });
		const one = servers.add(config("one"));
		const broken = servers.add(serverConfig(nodeServer("broken", ODD_SERVER, "crash")));
		await one.connect();
		await assert.rejects(broken.connect(), /no licence found/);
		assert.equal(one.status, "connected");
	});

	it("is full if every connection is in use", async (t) => {
		const { servers } = await openServers(t, { maxConnections: 1 });
		const one = servers.add(config("one"));
		const two = servers.add(config("two"));
		const server = await one.connect();
		const write = server.tools.find(({ name }) => name === "write");
		assert.ok(write);
		const never = server.calls.call("test", write, { text: "never" }).catch(() => {});
		await until(() => server.calls.busy, "the call runs");
		await assert.rejects(two.connect(), { message: "Connection failed: Maximum connections (1) reached" });
		await one.disconnect();
		await never;
	});

	it("rejects an id that another server has, and a device that takes the id of a configured server", async (t) => {
		const { servers, registry } = await openServers(t);
		const one = servers.add(config("one"));
		assert.throws(() => servers.add(config("one")), { message: "Connection 'one' already exists" });
		await one.connect();
		let reason = "";
		registry.connect({
			identity: { id: "one", clientId: "one", transport: "websocket" },
			closeReason: "",
			start: async () => {},
			send: async () => {},
			close: async (why = "") => {
				reason = why;
			},
		});
		assert.equal(reason, "the id belongs to a configured server");
		assert.equal(one.status, "connected");
	});

	it("offers clients only the tools that the configuration allows", async (t) => {
		const { servers } = await openServers(t);
		const tools = { allow: ["e*", "w*", "delete"], deny: ["write"] };
		const args = [ODD_SERVER, "good", "delete", "erase"];
		const server = servers.add(serverConfig({ ...nodeServer("few", ODD_SERVER), args, tools }));
		const { tools: offered } = await server.connect();
		assert.deepEqual(offered.map(({ name }) => name).sort(), ["delete", "echo", "erase"]);
	});
});
