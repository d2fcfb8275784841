import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import type { Access } from "../src/config/access.js";
import { LOCAL, openGateway, SET_VOLUME } from "../testing/gateway.js";
import { MemoryDevice } from "../testing/memory-device.js";

const FULL = { catalog: "full" } as const;

async function openPair(t: TestContext) {
	const gateway = await openGateway(t);
	const devices = ["one", "two"].map((id) => new MemoryDevice({ id, board: id, tools: [SET_VOLUME] }));
	for (const device of devices) {
		gateway.servers.connect(device);
	}
	await until(() => gateway.servers.all.length === 2, "both are known");
	return { gateway, one: devices[0] as MemoryDevice };
}

describe("what a catalog lists of a device", () => {
	it("is shared by clients with other tokens and the same rights, after a change too", async (t) => {
		const { gateway, one } = await openPair(t);
		const catalogs = ["kitchen", "hall"].map((principal) =>
			gateway.catalog({ ...LOCAL, principal }, undefined, { ...FULL, catalogLimit: principal.length }),
		);
		const shared = () =>
			catalogs.map(({ tools, lists }) => ({ tools, resources: lists.resources(), prompts: lists.prompts() }));
		for (const description of ["Another text.", "A third text."]) {
			one.changeTools([{ ...SET_VOLUME, description }]);
			await once(gateway.servers, "changed");
			const [first, second] = shared();
			assert.equal(first?.tools.at(-2)?.description, description);
			assert.equal(first?.tools, second?.tools);
			assert.equal(first?.resources, second?.resources);
			assert.equal(first?.prompts, second?.prompts);
		}
	});

	it("has the new name after a device was renamed", async (t) => {
		const { gateway } = await openPair(t);
		const catalog = gateway.catalog(LOCAL, undefined, FULL);
		const firstOfTwo = catalog.tools.at(-1);
		await gateway.servers.edit("one", { alias: "uno" });
		const aliases = [gateway.servers.find("two")?.alias, "uno"];
		const names = catalog.tools.map(({ name }) => name);
		assert.deepEqual(names, ["tool_call", ...aliases.map((alias) => `${alias}__self_audio_speaker_set_volume`)]);
		assert.equal(catalog.tools[1], firstOfTwo);
		const uris = catalog.lists.resources().map(({ uri }) => uri);
		assert.deepEqual(
			uris,
			aliases.map((alias) => `device://${alias}/state`),
		);
	});

	it("is not what a client with other rights may see", async (t) => {
		const gateway = await openGateway(t);
		const tools = [SET_VOLUME, { name: "self.reboot", inputSchema: {}, annotations: { audience: ["user"] } }];
		gateway.servers.connect(new MemoryDevice({ id: "one", tools }));
		await until(() => gateway.servers.all.length === 1, "it is known");
		const count = (access: Partial<Access>) => gateway.catalog({ ...LOCAL, ...access }, undefined, FULL).tools.length;
		assert.deepEqual([count({}), count({ userTools: true }), count({ readOnly: true }), count({})], [1, 2, 0, 1]);
		assert.deepEqual([count({ userTools: new Set(["one"]) }), count({ userTools: new Set(["two"]) })], [2, 1]);
	});
});

it("many listeners of a catalog are told of every change, in order, over several turns of the event loop", async (t) => {
	const { gateway } = await openPair(t);
	const catalog = gateway.catalog(LOCAL);
	const told = Array.from({ length: 120 }, (): string[] => []);
	for (const changes of told) {
		catalog.onChange((change) => changes.push("uri" in change ? change.uri : change.kind));
	}
	for (const server of gateway.servers.all) {
		gateway.servers.emit("state", server);
	}
	assert.equal(told.filter(({ length }) => length > 0).length, 50);
	await until(() => told.every(({ length }) => length === 2), "all are told");
	const order = gateway.servers.all.map(({ alias }) => `device://${alias}/state`);
	assert.ok(told.every((changes) => changes.join() === order.join()));
});
