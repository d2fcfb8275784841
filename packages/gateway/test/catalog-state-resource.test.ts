import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { connectClient, ERAS, startWithDevice, type TestGateway, WireDevice } from "../testing/gateway.js";
import { subscribe } from "../testing/subscribe.js";

const [FIRST, SECOND] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];

async function readState(client: Client): Promise<Record<string, unknown>> {
	const { contents } = await client.readResource({ uri: "device://lamp_000001/state" }, { cacheMode: "refresh" });
	return JSON.parse((contents[0] as { text: string }).text);
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`the state of devices, for a client of ${era}`, () => {
		const connect = (t: TestContext, side: TestGateway, device?: string): Promise<Client> =>
			connectClient(t, side.clientUrl(device), era);

		it("reads the state of each device it may reach, as a resource", async (t) => {
			const { side, device } = await startWithDevice(t, {}, { id: FIRST });
			await WireDevice.connect(t, side, { id: SECOND });
			const client = await connect(t, side);
			const { resources } = await client.listResources();
			const uris = resources.map(({ uri }) => uri);
			assert.deepEqual(uris, ["device://lamp_000001/state", "device://lamp_000002/state"]);
			const { resourceTemplates } = await client.listResourceTemplates();
			const uriTemplates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
			assert.deepEqual(uriTemplates, ["device://{alias}/state"]);
			device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
			await until(async () => (await readState(client)).state === "speaking", "its state is known");
			const { lastSeen, ...state } = await readState(client);
			assert.deepEqual(state, {
				device: "lamp_000001",
				online: true,
				state: "speaking",
				board: "lamp",
				firmware: "1.0.0",
				transport: "websocket",
			});
			assert.ok(Date.parse(String(lastSeen)) <= Date.now());
			await device.unplug();
			await until(async () => (await readState(client)).online === false, "it is offline");
			const nobody = "device://nobody/state";
			await assert.rejects(client.readResource({ uri: nobody }), { code: -32602, data: { uri: nobody } });
			const second = await connect(t, side, SECOND);
			assert.equal((await second.listResources()).resources.length, 1);
			await assert.rejects(second.readResource({ uri: "device://lamp_000001/state" }), { code: -32602 });
		});

		it("is told when the state of a device changes, if it has subscribed to it", async (t) => {
			const { side, device: first } = await startWithDevice(t, {}, { id: FIRST });
			const second = await WireDevice.connect(t, side, { id: SECOND });
			const client = await connect(t, side);
			const uri = "device://lamp_000001/state";
			const { updates } = await subscribe(client, era, uri);
			const change = { oldState: "idle", newState: "speaking" };
			second.notify("notifications/state_changed", change);
			first.notify("notifications/state_changed", change);
			await until(() => updates.length === 1, "told");
			assert.equal(updates[0]?.uri, uri);
			await first.unplug();
			await until(() => updates.length === 2, "told that it is offline");
			assert.equal((await readState(client)).online, false);
			const states: boolean[] = [];
			side.gateway.servers.on("state", ({ online }) => states.push(online));
			await WireDevice.connect(t, side, { id: FIRST });
			assert.deepEqual(states, [true]);
			await until(() => updates.length === 3, "told that it is online again");
			assert.equal((await readState(client)).online, true);
		});
	});
}

const PRESSED = "notifications/button_pressed";
const PRESS = { button: "boot", long: false, milliseconds: 120 };
const URI = "device://lamp_000001/state";

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	it(`a client of ${era} that has subscribed to the state of a device is told of its events`, async (t) => {
		const { side, device } = await startWithDevice(t);
		const client = await connectClient(t, side.clientUrl(), era);
		const { updates } = await subscribe(client, era, URI);
		device.notify(PRESSED, PRESS);
		await until(() => updates.length === 1, "told");
		const { time, ...event } = (await readState(client)).lastEvent as { time: string };
		assert.deepEqual(event, { method: PRESSED, params: PRESS });
		assert.ok(Date.parse(time) <= Date.now());
		device.notify("notifications/event", { name: "tank.empty" });
		await until(() => updates.length === 2, "told of the event that its maker has named");
		assert.match(JSON.stringify((await readState(client)).lastEvent), /tank\.empty/);
		await device.unplug();
		await until(async () => (await readState(client)).online === false, "it is offline");
		assert.equal((await readState(client)).lastEvent, undefined);
	});
}
