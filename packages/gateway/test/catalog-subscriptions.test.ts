import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { testWith, until } from "../../../host-test/support/testing.js";
import { connectClient, ERAS, LAMP, startWithDevice, WireDevice, type WireDeviceOptions } from "../testing/gateway.js";
import { subscribe } from "../testing/subscribe.js";

const OWN = "device://self/volume";
const URI = "device://lamp_000001/volume";

const WITH_RESOURCE: WireDeviceOptions = {
	capabilities: { tools: {}, resources: { subscribe: true } },
	answers: { "resources/list": () => ({ resources: [{ uri: OWN, name: "volume" }] }) },
};

async function start(t: TestContext, options = WITH_RESOURCE) {
	const { side, device } = await startWithDevice(t, {}, options);
	await until(() => side.gateway.servers.find(LAMP)?.offers.resources.length === 1, "its resource is known");
	return { side, device };
}

const itStarted = testWith(start);

const urisOf = ({ updates }: Awaited<ReturnType<typeof subscribe>>) => updates.map(({ uri }) => uri);

const subscribed = (device: WireDevice) => device.askedBy("resources/subscribe").map(({ params }) => params.uri);

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`subscriptions to resources of devices, by clients of ${era}`, () => {
		const follow = (client: Client, uri = URI) => subscribe(client, era, uri);

		itStarted("are passed on to the device once, and end with the last of them", async ({ side, device }, t) => {
			const first = await follow(await connectClient(t, side.clientUrl(), era));
			const client = await connectClient(t, side.clientUrl(), era);
			const second = await follow(client);
			await until(() => subscribed(device).length > 0, "subscribed");
			device.notify("notifications/resources/updated", { uri: OWN });
			await until(() => first.updates.length === 1 && second.updates.length === 1, "both are told");
			assert.deepEqual([urisOf(first), urisOf(second), subscribed(device)], [[URI], [URI], [OWN]]);
			await first.end();
			device.notify("notifications/resources/updated", { uri: OWN });
			await until(() => second.updates.length === 2, "the other one is told");
			assert.equal(first.updates.length, 1);
			assert.deepEqual(device.askedBy("resources/unsubscribe"), []);
			await second.end();
			await until(() => device.askedBy("resources/unsubscribe").length === 1, "unsubscribed");
		});

		itStarted("are told of to those that have subscribed, and to no others", async ({ side, device }, t) => {
			const one = await follow(await connectClient(t, side.clientUrl(), era));
			const other = await follow(await connectClient(t, side.clientUrl(), era), "device://lamp_000001/state");
			await until(() => subscribed(device).length > 0, "subscribed");
			device.notify("notifications/resources/updated", { uri: "device://self/other" });
			device.notify("notifications/resources/updated", { uri: OWN });
			await until(() => one.updates.length === 1, "told");
			device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
			await until(() => other.updates.length > 0, "the other one is told of the state");
			assert.deepEqual([urisOf(one), urisOf(other)], [[URI], ["device://lamp_000001/state"]]);
		});

		it("are made again when the device returns, and clients told that they may have missed something", async (t) => {
			const { side, device } = await start(t);
			const { updates } = await follow(await connectClient(t, side.clientUrl(), era));
			await until(() => subscribed(device).length > 0, "subscribed");
			await device.unplug();
			const returned = await WireDevice.connect(t, side, WITH_RESOURCE);
			await until(() => updates.length === 1, "told");
			assert.deepEqual(subscribed(returned), [OWN]);
			returned.notify("notifications/resources/updated", { uri: OWN });
			await until(() => updates.length === 2, "told of the next update");
		});

		itStarted("end when the client disconnects", async ({ side, device }, t) => {
			const client = await connectClient(t, side.clientUrl(), era);
			await follow(client);
			await until(() => subscribed(device).length > 0, "subscribed");
			if (era === "2025-11-25") {
				await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
			}
			await client.close();
			await until(() => device.askedBy("resources/unsubscribe").length === 1, "unsubscribed");
		});

		itStarted("keep the device's own URI on its path", async ({ side, device }, t) => {
			const { updates } = await follow(await connectClient(t, side.clientUrl(LAMP), era), OWN);
			await until(() => subscribed(device).length > 0, "subscribed");
			device.notify("notifications/resources/updated", { uri: OWN });
			await until(() => updates.length === 1, "told");
			assert.equal(updates[0]?.uri, OWN);
		});
	});
}

describe("a subscription that cannot be made", () => {
	it("is rejected with what the device says", async (t) => {
		const { side } = await start(t, {
			...WITH_RESOURCE,
			answers: {
				...WITH_RESOURCE.answers,
				"resources/subscribe": ({ params: { uri } }) =>
					uri === OWN
						? { code: -32602, message: "too many subscriptions" }
						: { code: -32002, message: "not found", data: { uri } },
			},
		});
		const client = await connectClient(t, side.clientUrl(), "2025-11-25");
		await assert.rejects(client.subscribeResource({ uri: URI }), { code: -32602, message: /too many subscriptions/ });
		const missing = "device://lamp_000001/missing";
		await assert.rejects(client.subscribeResource({ uri: missing }), { data: { uri: missing } });
		await assert.rejects(client.subscribeResource({ uri: "test://nobody" }), { data: { uri: "test://nobody" } });
	});

	it("is rejected if the device does not support resource subscriptions", async (t) => {
		const { side } = await start(t, { ...WITH_RESOURCE, capabilities: { tools: {}, resources: {} } });
		const client = await connectClient(t, side.clientUrl(), "2025-11-25");
		await assert.rejects(client.subscribeResource({ uri: URI }), /does not support resource subscriptions/);
	});
});
