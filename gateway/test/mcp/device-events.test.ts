import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/until.js";
import { connectClient, ERAS, startGateway, WireDevice } from "../support/gateway.js";
import { subscribe } from "../support/subscribe.js";

// What a device tells of its buttons and sensors.

const PRESSED = "notifications/button_pressed";
const PRESS = { button: "boot", long: false, milliseconds: 120 };
const URI = "device://lamp_000001/state";

async function readState(client: Client): Promise<Record<string, unknown>> {
	const { contents } = await client.readResource({ uri: URI }, { cacheMode: "refresh" });
	return JSON.parse((contents[0] as { text: string }).text);
}

/** A client of 2025-11-25 that asks for the notifications of devices, and those it has got. */
async function connectListener(t: TestContext, url: URL) {
	const client = new Client(
		{ name: "test-client", version: "1.0.0" },
		{ capabilities: { experimental: { "xs-mcp/notifications": {} } } },
	);
	t.after(() => client.close());
	const notifications: { method: string; params?: unknown }[] = [];
	client.fallbackNotificationHandler = async ({ method, params }) => void notifications.push({ method, params });
	await client.connect(new StreamableHTTPClientTransport(url));
	return notifications;
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	it(`a client of ${era} that has subscribed to the state of a device is told of presses`, async (t) => {
		const side = await startGateway(t);
		const device = await WireDevice.connect(t, side);
		const client = await connectClient(t, side.clientUrl(), era);
		const { updates } = await subscribe(client, era, URI);
		device.notify(PRESSED, PRESS);
		await until(() => updates.length === 1, "told");
		assert.deepEqual(updates[0]?._meta?.["xs-mcp/notification"], { method: PRESSED, params: PRESS });
		const { time, ...event } = (await readState(client)).lastEvent as { time: string };
		assert.deepEqual(event, { method: PRESSED, params: PRESS });
		assert.ok(Date.parse(time) <= Date.now());
		await device.unplug();
		await until(async () => (await readState(client)).online === false, "it is offline");
		assert.equal((await readState(client)).lastEvent, undefined);
	});
}

describe("a client of 2025-11-25 that asks for the notifications of devices", () => {
	it("gets presses and changes of sensors as they are, with the device that sent them", async (t) => {
		const side = await startGateway(t);
		const device = await WireDevice.connect(t, side);
		const notifications = await connectListener(t, side.clientUrl());
		const change = { sensor: "room", kind: "temperature", value: 22, unit: "°C" };
		// The client opens its stream after the handshake.
		await until(() => {
			device.notify(PRESSED, PRESS);
			return notifications.length > 0;
		}, "told of the press");
		device.notify("notifications/sensor_changed", change);
		await until(() => notifications.at(-1)?.method === "notifications/sensor_changed", "told of the sensor");
		const _meta = { "xs-mcp/device": "lamp_000001" };
		assert.deepEqual(notifications[0], { method: PRESSED, params: { ...PRESS, _meta } });
		assert.deepEqual(notifications.at(-1)?.params, { ...change, _meta });
	});

	it("does not get an event that is too long: it is rejected", async (t) => {
		const side = await startGateway(t);
		const device = await WireDevice.connect(t, side);
		const notifications = await connectListener(t, side.clientUrl());
		const rejected: string[] = [];
		side.gateway.servers.on("rejected", (description) => rejected.push(description));
		device.notify(PRESSED, { button: "x".repeat(2_000) });
		await until(() => rejected.length > 0, "rejected");
		assert.match(rejected[0] ?? "", /button_pressed is too long \(limit 1024 characters\)/);
		assert.equal(notifications.length, 0);
	});
});
