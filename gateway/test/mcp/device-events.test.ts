import assert from "node:assert/strict";
import { it } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/until.js";
import { connectClient, ERAS, startWithDevice } from "../support/gateway.js";
import { subscribe } from "../support/subscribe.js";

// Notifications of a device's buttons and sensors.

const PRESSED = "notifications/button_pressed";
const PRESS = { button: "boot", long: false, milliseconds: 120 };
const URI = "device://lamp_000001/state";

async function readState(client: Client): Promise<Record<string, unknown>> {
	const { contents } = await client.readResource({ uri: URI }, { cacheMode: "refresh" });
	return JSON.parse((contents[0] as { text: string }).text);
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	it(`a client of ${era} that has subscribed to the state of a device is told of presses`, async (t) => {
		const { side, device } = await startWithDevice(t);
		const client = await connectClient(t, side.clientUrl(), era);
		const { updates } = await subscribe(client, era, URI);
		device.notify(PRESSED, PRESS);
		await until(() => updates.length === 1, "told");
		const { time, ...event } = (await readState(client)).lastEvent as { time: string };
		assert.deepEqual(event, { method: PRESSED, params: PRESS });
		assert.ok(Date.parse(time) <= Date.now());
		await device.unplug();
		await until(async () => (await readState(client)).online === false, "it is offline");
		assert.equal((await readState(client)).lastEvent, undefined);
	});
}
