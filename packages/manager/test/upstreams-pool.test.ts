import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { FakeConnection } from "../testing/fake-connection.js";
import { callText, connected, nodeServer, ODD_SERVER, openServers } from "../testing/upstreams.js";

const odd = (id: string) => nodeServer(id, ODD_SERVER);

describe("the pool of connections", () => {
	it("closes the idle connection that was not used for the longest time, and opens it again for a call", async (t) => {
		const { add } = await openServers(t, { maxConnections: 2 });
		const [one, two, three] = ["one", "two", "three"].map((id) => add(odd(id)));
		assert.ok(one && two && three);
		await one.connect();
		const second = await two.connect();
		assert.ok(one.server);
		await callText(one.server, "echo", { text: "used" });
		await three.connect();
		assert.deepEqual([one.status, two.status, three.status], ["connected", "disconnected", "connected"]);
		assert.equal(await callText(second, "echo", { text: "woken" }), "echo: woken");
		assert.deepEqual([one.status, two.status, three.status], ["disconnected", "connected", "connected"]);
	});

	it("keeps healthy connections if another server cannot be connected", async (t) => {
		const { add } = await openServers(t, { maxConnections: 1 });
		const one = add(odd("one"));
		const broken = add(nodeServer("broken", ODD_SERVER, "crash"));
		await one.connect();
		await assert.rejects(broken.connect(), /no licence found/);
		assert.equal(one.status, "connected");
	});

	it("is full if every connection is in use", async (t) => {
		const { add } = await openServers(t, { maxConnections: 1 });
		const one = add(odd("one"));
		const two = add(odd("two"));
		const server = await one.connect();
		const never = callText(server, "write", { text: "never" }).catch(() => {});
		await until(() => server.busy, "the call runs");
		await assert.rejects(two.connect(), { message: "Connection failed: Maximum connections (1) reached" });
		await one.disconnect();
		await never;
	});

	it("rejects an id that another server has, and a device that takes the id of a configured server", async (t) => {
		const { add, registry } = await openServers(t);
		const one = add(odd("one"));
		assert.throws(() => add(odd("one")), { message: "Connection 'one' already exists" });
		await one.connect();
		const device = new FakeConnection([], { id: "one" });
		const closed = once(device.events, "closed");
		registry.connect(device);
		const [reason] = await closed;
		assert.equal(reason, "the id belongs to a configured server");
		assert.equal(one.status, "connected");
	});

	it("offers clients only the tools that the configuration allows", async (t) => {
		const tools = { allow: ["e*", "w*", "delete"], deny: ["write"] };
		const args = [ODD_SERVER, "good", "delete", "erase"];
		const { server } = await connected(t, { ...odd("few"), args, tools });
		assert.deepEqual(server.tools.map(({ name }) => name).sort(), ["delete", "echo", "erase"]);
	});
});
