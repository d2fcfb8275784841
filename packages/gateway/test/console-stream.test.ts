import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { testWith, until } from "../../../host-test/support/testing.js";
import type { FleetView } from "../src/console/fleet-query.js";
import { history } from "../src/history/plugin.js";
import {
	detailIn,
	follow,
	listIn,
	signIn,
	startWithConsole,
	startWithToken,
	statusOf,
	WHOLE_LIST,
} from "../testing/console.js";
import { LAMP, STATUS, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson } from "../testing/program.js";

const itConsole = testWith(startWithConsole);
const itWithToken = testWith(startWithToken);

/** Files of devices that were known before, as the gateway writes them. */
function makeKnownDevices(stateFolder: string, count: number): void {
	mkdirSync(join(stateFolder, "devices"));
	for (let index = 0; index < count; index += 1) {
		const id = `aa:bb:${index}`;
		const board = { name: "lamp", version: "1.0.0" };
		const record = {
			id,
			alias: `lamp_${index}`,
			board,
			lastSeen: 1,
			tools: [],
			resources: [],
			resourceTemplates: [],
			prompts: [],
		};
		writeFileSync(join(stateFolder, "devices", `${index}.json`), JSON.stringify(record));
	}
}

describe("the console's stream", () => {
	itConsole("has the part of the table that the page looks at, and then what changes", async (gateway, t) => {
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
		const { messages } = await follow(t, gateway);
		const [row] = listIn(messages)?.rows ?? [];
		assert.deepEqual([row?.id, row?.online, row?.tools, row?.kind], ["aa:bb:cc:00:00:01", true, 2, "device"]);
		assert.deepEqual(messages[0]?.approvals, []);
		gateway.gateway.servers.connections[0]?.close("test");
		await until(() => listIn(messages)?.rows[0]?.problem === "offline", "the device is offline");
		await gateway.gateway.servers.forget("aa:bb:cc:00:00:01");
		await until(() => listIn(messages)?.found === 0, "the device is gone");
	});

	itConsole("has the page of a virtual device, if that is on this computer", async (gateway, t) => {
		const id = "aa:bb:cc:00:00:01";
		for (const [pageUrl, shown] of [
			["http://127.0.0.1:8768/", "http://127.0.0.1:8768/"],
			["http://192.168.1.9/", undefined],
			["javascript:alert(1)", undefined],
		] as const) {
			await WireDevice.connect(t, gateway, { id, headers: { "page-url": pageUrl } });
			const { messages } = await follow(t, gateway, {}, { device: id });
			assert.equal(detailIn(messages)?.pageUrl, shown);
		}
	});

	itConsole("has one device with its states and calls", async (gateway, t) => {
		const onCall = () => ({ content: [{ type: "text", text: "ok" }], isError: false });
		const id = "aa:bb:cc:00:00:01";
		await WireDevice.connect(t, gateway, { id, onCall });
		const { messages, look } = await follow(t, gateway, {}, { device: id });
		const server = gateway.gateway.servers.find(id);
		const [setVolume, reboot] = server?.tools ?? [];
		assert.ok(server && setVolume && reboot);
		const options = { clientName: "host" };
		await server.call(setVolume, { volume: 7 }, { principal: "me", ...options });
		await server.call(reboot, {}, { principal: "me", ...options });
		await until(() => detailIn(messages)?.calls.length === 2, "both calls are there");
		const [second, first] = detailIn(messages)?.calls ?? [];
		const { tool, principal, client, args, answer, outcome } = first ?? {};
		assert.deepEqual(
			[tool, principal, client, args, answer, outcome],
			["self.audio_speaker.set_volume", "me", "host", '{"volume":7}', "ok", "ok"],
		);
		assert.deepEqual([second?.tool, second?.args, second?.answer], ["self.reboot", undefined, undefined], "user-only");
		const states = detailIn(messages)?.states.map(({ state }) => state);
		assert.deepEqual(states, ["online"]);
		assert.equal(await look({ device: "nobody" }), 204);
		await until(() => messages.some(({ device }) => device === null), "it is not known");
	});

	itConsole("has the status of a device as it is read, reported and changed by others", async (gateway, t) => {
		const id = "aa:bb:cc:00:00:01";
		const status = { lights: { led: { on: false } }, sensors: { air: { kind: "temperature", value: 20 } } };
		const setLight = { name: "self.light.set", inputSchema: { type: "object" } };
		const device = await WireDevice.connect(t, gateway, {
			id,
			tools: [{ name: "self.get_device_status", inputSchema: { type: "object" } }, setLight],
			onCall: ({ name }) => {
				status.lights.led.on ||= name === setLight.name;
				return { content: [{ type: "text", text: JSON.stringify(status) }], isError: false };
			},
		});
		const { messages } = await follow(t, gateway, {}, { device: id });
		const shown = () => detailIn(messages)?.status as typeof status | undefined;
		await until(() => shown()?.sensors.air.value === 20, "it is read for the page");
		device.notify("notifications/sensor_changed", { sensor: "air", kind: "temperature", value: 21 });
		await until(() => shown()?.sensors.air.value === 21, "the device reports a value");
		const server = gateway.gateway.servers.find(id);
		const tool = server?.tools.find(({ name }) => name === setLight.name);
		assert.ok(server && tool);
		await server.call(tool, {}, { principal: "other" });
		await until(() => shown()?.lights.led.on === true, "another client switches the light on");
		const own = detailIn(messages)?.calls.map((call) => call.tool);
		assert.deepEqual(own, [setLight.name], "the gateway's own readings are not shown as calls");
	});

	itConsole("has the status that another client changed shortly before the page was opened", async (gateway, t) => {
		let on = false;
		const setLight = { name: "self.light.set", inputSchema: { type: "object" } };
		await WireDevice.connect(t, gateway, {
			id: LAMP,
			tools: [STATUS, setLight],
			onCall: ({ name }) => {
				on ||= name === setLight.name;
				return { content: [{ type: "text", text: JSON.stringify({ lights: { led: { on } } }) }], isError: false };
			},
		});
		const server = gateway.gateway.servers.find(LAMP);
		assert.ok(server);
		for (const tool of server.tools) {
			await server.call(tool, {}, { principal: "other" });
		}
		const { messages } = await follow(t, gateway, {}, { device: LAMP });
		const shown = () => detailIn(messages)?.status;
		await until(() => isDeepStrictEqual(shown(), { lights: { led: { on: true } } }), "the light is on");
	});

	itConsole("has the status of one device while many are silent, each read once at a time", async (gateway, t) => {
		const tools = [STATUS];
		const ids = Array.from({ length: 40 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		const silent = await Promise.all(
			ids.map((id) => WireDevice.connect(t, gateway, { id, tools, onCall: () => undefined })),
		);
		let round = 0;
		const onCall = () => ({ content: [{ type: "text", text: JSON.stringify({ round: ++round }) }] });
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:02:10", board: "zebra", tools, onCall });
		const view = { list: { ...WHOLE_LIST.list, hasStatus: true } } as FleetView;
		const invalid = await WireDevice.connect(t, gateway, { id: LAMP, tools });
		t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
		const { messages } = await follow(t, gateway, {}, view);
		const statuses = () => listIn(messages)?.rows.flatMap(({ status }) => status ?? []);
		for (const expected of [1, 2, 3]) {
			await until(() => isDeepStrictEqual(statuses(), [{ round: expected }]), `status ${expected} is shown`);
			t.mock.timers.tick(16_000);
		}
		assert.ok(invalid.calls.length <= 3, `an answer that is no status is read ${invalid.calls.length} times`);
		for (const { calls, cancelled } of silent) {
			assert.ok(calls.length - cancelled.length <= 1, `${calls.length} reads, of which ${cancelled.length} have ended`);
		}
	});

	itConsole("gives a device ten seconds to report its status", async (gateway, t) => {
		const device = await WireDevice.connect(t, gateway, { id: LAMP, tools: [STATUS], onCall: () => undefined });
		const { statuses } = gateway.gateway.use(history);
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const untilSome = async (list: readonly unknown[]): Promise<void> => {
			while (list.length === 0) {
				await setImmediate();
			}
		};
		statuses.refresh([LAMP]);
		await untilSome(device.calls);
		t.mock.timers.tick(9_999);
		assert.equal(device.cancelled.length, 0);
		t.mock.timers.tick(1);
		await untilSome(device.cancelled);
	});

	itConsole("has what was rejected, and who is connected", async (gateway, t) => {
		gateway.gateway.servers.reject("aa:bb: unknown token");
		const { messages } = await follow(t, gateway);
		assert.equal(messages[0]?.rejections?.[0]?.description, "aa:bb: unknown token");
		gateway.gateway.servers.reject("later");
		await until(() => messages.slice(1).some(({ rejections = [] }) => rejections.length === 2), "the second one");
	});

	it("shows a token for one device that device, and no other clients", async (t) => {
		const gateway = await startWithToken(t, { devices: ["aa:bb:cc:00:00:02"], name: "kiosk" });
		const { headers } = await signIn(gateway, gateway.secret);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
		const { messages, look } = await follow(t, gateway, headers);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:02" });
		await until(() => listIn(messages)?.found === 1, "its device is there");
		assert.deepEqual(
			[listIn(messages)?.rows.map(({ id }) => id), messages.filter(({ totals }) => totals).at(-1)?.totals?.all],
			[["aa:bb:cc:00:00:02"], 1],
		);
		await look({ device: "aa:bb:cc:00:00:01" });
		await until(() => messages.some(({ device }) => device === null), "the other one is not known");
		assert.ok(messages.every(({ clients, approvals, rejections }) => !clients && !approvals && !rejections));
		assert.equal(await statusOf(`${gateway.base}/tokens`, { headers }), 403);
	});

	itWithToken("sends approvals to operators alone: others may neither read nor decide them", async (gateway, t) => {
		const operator = await gateway.tokens.add({ name: "boss", kind: "client", operator: true });
		for (const [secret, approvals] of [
			[gateway.secret, undefined],
			[operator, []],
		] as const) {
			const { headers } = await signIn(gateway, secret);
			const { messages } = await follow(t, gateway, headers);
			assert.deepEqual([messages[0]?.approvals, messages[0]?.rejections], [approvals, []]);
		}
	});

	itWithToken("is looked through by its own page alone, and by views that make sense", async (gateway, t) => {
		const other = await gateway.tokens.add({ name: "other", kind: "client" });
		const { headers } = await signIn(gateway, gateway.secret);
		const { messages, look } = await follow(t, gateway, headers);
		const path = `${gateway.base}/console/stream/${messages[0]?.stream}`;
		assert.equal((await sendJson("PUT", path, {}, { Authorization: `Bearer ${other}` })).status, 404);
		const list = { ...WHOLE_LIST.list, count: 201 };
		assert.equal(await look({ list } as FleetView), 400);
		assert.equal(await look({ more: 1 } as FleetView), 400);
	});

	it("finds and sorts some of many devices, and sends a part of them", async (t) => {
		const stateFolder = makeStateFolder();
		makeKnownDevices(stateFolder, 1_500);
		const gateway = await startWithConsole(t, {}, stateFolder);
		const { messages, look } = await follow(t, gateway);
		assert.deepEqual([listIn(messages)?.found, listIn(messages)?.rows.length], [1_500, 200]);
		assert.equal(messages[0]?.totals?.problems.offline, 1_500);
		const list = { search: "LAMP_14 aa:bb", filter: "problems", tag: "", sort: "", offset: 110, count: 40 } as const;
		await look({ list });
		await until(() => listIn(messages)?.found === 111, "lamp_14, lamp_140, lamp_1400 and so on are found");
		const aliases = listIn(messages)?.rows.map(({ alias }) => alias);
		assert.deepEqual(aliases, ["lamp_1499"]);
		await look({ list: { ...list, filter: "online" } });
		await until(() => listIn(messages)?.found === 0, "none of them is online");
		const sorted = { search: "", filter: "all", tag: "", sort: "-name", offset: 0, count: 3 } as const;
		const shown = () => `${listIn(messages)?.rows.map(({ alias }) => alias)}`;
		await look({ list: sorted });
		await until(() => shown() === "lamp_999,lamp_998,lamp_997", "the last names come first");
		await look({ list: { ...sorted, sort: "name" } });
		await until(() => shown() === "lamp_0,lamp_1,lamp_10", "the first names come first");
		assert.equal(await look({ list: { ...sorted, sort: "colour" as "name" } }), 400);
	});

	itConsole("sends a storm as a few messages", async (gateway, t) => {
		const { servers } = gateway.gateway;
		const ids = Array.from({ length: 30 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id })));
		const { messages } = await follow(t, gateway);
		const before = messages.length;
		for (const session of servers.connections) {
			session.close("test");
		}
		await until(() => listIn(messages)?.rows.filter(({ online }) => !online).length === 30, "the page knows");
		assert.ok(messages.length - before < 15, `${messages.length - before} messages`);
	});
});
