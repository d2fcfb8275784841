import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryStore } from "xs-mcp-manager/core";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import {
	connectClient,
	ERAS,
	startGateway,
	startWithDevice,
	WireDevice,
	type WireDeviceOptions,
} from "../testing/gateway.js";
import { openSession } from "../testing/raw-session.js";

const [FIRST, SECOND] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];

/** A device with resources of its own: one that it calls `device://self/…`, one that it does not, and a template. */
const WITH_RESOURCES: WireDeviceOptions = {
	capabilities: { tools: {}, resources: { subscribe: true, listChanged: true } },
	answers: {
		"resources/list": () => ({
			resources: [
				{ uri: "device://self/volume", name: "volume", title: "Volume", mimeType: "text/plain" },
				{ uri: "test://static-text?a=1#b", name: "static-text" },
			],
		}),
		"resources/templates/list": () => ({
			resourceTemplates: [{ uriTemplate: "setting://{domain}/{name}", name: "setting" }],
		}),
		"resources/read": ({ params: { uri } }) =>
			uri === "test://missing"
				? { code: -32002, message: "no such resource", data: { uri } }
				: { contents: [{ uri, text: `content of ${uri}` }] },
	},
};

const uris = ({ resources }: { resources: { uri: string }[] }): string[] => resources.map(({ uri }) => uri);

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`resources of devices, for a client of ${era}`, () => {
		it("have URIs that differ where there are several devices, and are read by them", async (t) => {
			const { side, device: first } = await startWithDevice(t, {}, { ...WITH_RESOURCES, id: FIRST });
			await WireDevice.connect(t, side, { ...WITH_RESOURCES, id: SECOND });
			const client = await connectClient(t, side.clientUrl(), era);
			const of = (alias: string) => [
				`device://${alias}/state`,
				`device://${alias}/volume`,
				`on-device://${alias}/test://static-text?a=1#b`,
			];
			await until(
				async () => uris(await client.listResources(undefined, { cacheMode: "refresh" })).length === 6,
				"all are listed",
			);
			const listed = await client.listResources();
			assert.deepEqual(uris(listed), [...of("lamp_000001"), ...of("lamp_000002")]);
			const { name, title, mimeType } = listed.resources[1] ?? {};
			assert.deepEqual([name, title, mimeType], ["lamp_000001/volume", "Volume: lamp_000001", "text/plain"]);
			const { resourceTemplates } = await client.listResourceTemplates();
			const uriTemplates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
			assert.deepEqual(uriTemplates, [
				"device://{alias}/state",
				"on-device://lamp_000001/setting://{domain}/{name}",
				"on-device://lamp_000002/setting://{domain}/{name}",
			]);
			for (const [uri, own] of [
				["device://lamp_000001/volume", "device://self/volume"],
				["on-device://lamp_000001/test://static-text?a=1#b", "test://static-text?a=1#b"],
				["on-device://lamp_000001/setting://audio/volume", "setting://audio/volume"],
			]) {
				const { contents } = await client.readResource({ uri: uri as string });
				assert.deepEqual(contents, [{ uri, text: `content of ${own}` }]);
				assert.equal(first.askedBy("resources/read").at(-1)?.params.uri, own);
			}
		});

		it("are as the device has them on the path of the device", async (t) => {
			const { side } = await startWithDevice(t, {}, WITH_RESOURCES);
			const client = await connectClient(t, side.clientUrl(FIRST), era);
			await until(
				async () => uris(await client.listResources(undefined, { cacheMode: "refresh" })).length === 3,
				"all are listed",
			);
			assert.deepEqual(uris(await client.listResources()).slice(1), [
				"device://self/volume",
				"test://static-text?a=1#b",
			]);
			const { contents } = await client.readResource({ uri: "device://self/volume" });
			assert.deepEqual(contents, [{ uri: "device://self/volume", text: "content of device://self/volume" }]);
		});

		it("are told as changed when the device says so", async (t) => {
			const resources = [{ uri: "device://self/a", name: "a" }];
			const answers = { ...WITH_RESOURCES.answers, "resources/list": () => ({ resources }) };
			const { side, device } = await startWithDevice(t, {}, { ...WITH_RESOURCES, answers });
			await until(() => side.gateway.servers.find(FIRST)?.offers.resources.length === 1, "known");
			resources.push({ uri: "device://self/b", name: "b" });
			device.notify("notifications/resources/list_changed");
			await until(() => side.gateway.servers.find(FIRST)?.offers.resources.length === 2, "learnt again");
			assert.equal(device.askedBy("tools/list").length, 1, "the tools are not listed again");
			const client = await connectClient(t, side.clientUrl(), era);
			assert.ok(uris(await client.listResources()).includes("device://lamp_000001/b"));
		});

		it("may be kept for as long as the answer says, since 2026-07-28", async (t) => {
			const { side } = await startWithDevice(t, {}, WITH_RESOURCES);
			const client = await connectClient(t, side.clientUrl(), era);
			const uri = "device://lamp_000001/state";
			const hints = [
				await client.listResources(),
				await client.listResourceTemplates(),
				await client.listPrompts(),
				await client.readResource({ uri }),
			].map(({ ttlMs, cacheScope }) => [ttlMs, cacheScope]);
			const list = [5_000, "public"];
			assert.deepEqual(
				hints,
				era === "2026-07-28" ? [list, list, list, [0, "public"]] : hints.map(() => [undefined, undefined]),
			);
		});
	});
}

describe("a resource that does not exist", () => {
	for (const uri of ["device://nobody/state", "on-device://lamp_000001/test://missing", "nonsense"]) {
		it(`is answered with the code of the client's revision: ${uri}`, async (t) => {
			const { side } = await startWithDevice(t, {}, WITH_RESOURCES);
			for (const revision of ["2024-11-05", "2025-11-25"]) {
				const { ask } = await openSession(side.clientUrl(), revision);
				const { error } = await ask("resources/read", { uri });
				assert.deepEqual([error.code, error.data], [-32002, { uri }]);
			}
			const client = await connectClient(t, side.clientUrl(), "2026-07-28");
			await assert.rejects(client.readResource({ uri }), { code: -32602, data: { uri } });
		});
	}
});

it("the state of a device that tells its state itself holds what the device says, besides what the gateway knows", async (t) => {
	const side = await startGateway(t);
	let answers = true;
	const device = await WireDevice.connect(t, side, {
		...WITH_RESOURCES,
		answers: {
			"resources/list": () => ({ resources: [{ uri: "device://self/state", name: "state" }] }),
			"resources/read": ({ params: { uri } }) =>
				answers
					? { contents: [{ uri, text: JSON.stringify({ board: "own", uptime: 5, parts: ["screen"] }) }] }
					: { code: -32603, message: "broken" },
		},
	});
	await until(() => side.gateway.servers.find(FIRST)?.offers.resources.length === 1, "known");
	const client = await connectClient(t, side.clientUrl(), "2025-11-25");
	const read = async () => {
		const { contents } = await client.readResource({ uri: "device://lamp_000001/state" });
		return JSON.parse((contents[0] as { text: string }).text);
	};
	assert.deepEqual(uris(await client.listResources()), ["device://lamp_000001/state"], "listed once");
	const { lastSeen, ...state } = await read();
	assert.ok(Date.parse(lastSeen) > 0);
	assert.deepEqual(state, {
		device: "lamp_000001",
		online: true,
		board: "lamp",
		firmware: "1.0.0",
		transport: "websocket",
		uptime: 5,
		parts: ["screen"],
	});
	answers = false;
	assert.deepEqual([(await read()).online, (await read()).uptime], [true, undefined]);
	await device.unplug();
	await until(async () => (await read()).online === false, "it is offline");
});

it("lists of a device that is offline are kept, also over a restart of the gateway", async (t) => {
	const store = new MemoryStore();
	const first = await startGateway(t, { store });
	await WireDevice.connect(t, first, {
		...WITH_RESOURCES,
		capabilities: { tools: {}, resources: {}, prompts: {} },
		answers: { ...WITH_RESOURCES.answers, "prompts/list": () => ({ prompts: [{ name: "evening" }] }) },
	});
	await until(() => first.gateway.servers.find(FIRST)?.offers.prompts.length === 1, "known");
	await first.close();
	const second = await startGateway(t, { store, offlineWait: 10 });
	const client = await connectClient(t, second.clientUrl(), "2025-11-25");
	assert.equal(uris(await client.listResources()).length, 3);
	assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
	const names = (await client.listPrompts()).prompts.map(({ name }) => name);
	assert.deepEqual(names, ["lamp_000001__evening"]);
	const reading = client.readResource({ uri: "device://lamp_000001/volume" });
	await assert.rejects(reading, {
		code: -32603,
		message: /lamp_000001 is offline/,
		data: { "xs-mcp/error": "server-offline" },
	});
});

describe("lists of resources and prompts that are not right", () => {
	it("are read without the items that are not valid, or listed twice", async (t) => {
		const side = await startGateway(t);
		await WireDevice.connect(t, side, {
			capabilities: { tools: {}, resources: {}, prompts: {} },
			answers: {
				"resources/list": () => ({ resources: [{ uri: "a:b" }, { uri: "a:c", name: "c" }, { uri: "a:c", name: "d" }] }),
				"resources/templates/list": () => ({ code: -32601, message: "Method not found" }),
				"prompts/list": () => ({ prompts: [5, { name: "" }, { name: "p", arguments: [{ name: "x" }] }] }),
			},
		});
		const offers = () => side.gateway.servers.find(FIRST)?.offers;
		await until(() => offers()?.prompts.length === 1, "known");
		assert.deepEqual(offers()?.resources, [{ uri: "a:c", name: "c" }]);
		assert.deepEqual(offers()?.resourceTemplates, []);
		assert.equal(side.warnings.filter((warning) => warning.includes("skipped")).length, 4);
	});

	it("disconnect the device if they do not end, or are too long", async (t) => {
		const side = await startGateway(t);
		const many = Array.from({ length: 1_001 }, (_, index) => ({ uri: `a:${index}`, name: "a" }));
		await WireDevice.connectTo(t, side.deviceUrl, {
			capabilities: { tools: {}, resources: {} },
			answers: { "resources/list": () => ({ resources: many }) },
		});
		const isTold = (): boolean => /list too large \(1001 items, \d+ characters\)/.test(side.warnings.join());
		await until(isTold, "the device is disconnected for it");
	});
});
