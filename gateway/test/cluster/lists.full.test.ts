import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KV } from "@nats-io/kv";
import { until } from "../../../host-test/support/until.js";
import { Lists } from "../../src/cluster/lists.js";
import { keyOf } from "../../src/cluster/messages.js";
import { SET_VOLUME, WireDevice } from "../support/gateway.js";
import type { StartedProgram } from "../support/program.js";
import { LAMP, startCluster, startTwo, startTwoWithLamp, untilAt } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

const OTHER = "aa:bb:cc:00:00:02";

async function keysIn(bucket: KV): Promise<string[]> {
	const keys: string[] = [];
	for await (const key of await bucket.keys()) {
		keys.push(key);
	}
	return keys;
}

/** A tool whose description differs, and has this many characters. */
const toolOf = (description: string | number, length = 0) => ({
	...SET_VOLUME,
	description: String(description).padEnd(length, "."),
});

const metricOf = async ({ base }: StartedProgram): Promise<number> => {
	const text = await (await fetch(`${base}/metrics`)).text();
	return Number(/^xs_mcp_gateway_cluster_lists_refused_total (\d+)$/m.exec(text)?.[1]);
};

describe("the lists of a device of another gateway", { skip: whyNoNats }, () => {
	it("are requested again after a request has failed, without a change of the device", async (t) => {
		const { nats, b } = await startTwoWithLamp(t);
		const kvm = await nats.openBuckets(t);
		const devices = await kvm.open("xsmcp_devices");
		const entry = (await devices.get(keyOf(LAMP)))?.json<Record<string, unknown>>();
		const before = await kvm.open("xsmcp_lists");
		const lists = (await before.get(String(entry?.offers)))?.string() ?? "";
		await before.destroy();
		const other = { ...entry, id: OTHER, alias: "other", online: false, gateway: "c", offers: "another" };
		await devices.put(keyOf(OTHER), JSON.stringify(other));
		await until(() => b.log().includes(`${OTHER}: its lists cannot be read`), "the request has failed");
		const bucket = await kvm.create("xsmcp_lists", { history: 1, allow_direct: false });
		await bucket.put("another", lists);
		await until(() => b.gateway.servers.find(OTHER)?.tools.length === 2, "b has read them");
	});

	it("are stored again if they are missing in the bucket", async (t) => {
		const { nats } = await startTwoWithLamp(t);
		const bucket = await (await nats.openBuckets(t)).open("xsmcp_lists");
		const [key] = await keysIn(bucket);
		await bucket.delete(key as string);
		await until(async () => (await keysIn(bucket)).includes(key as string), "a has stored them again");
	});
});

describe("the bucket of lists", { skip: whyNoNats }, () => {
	it("has few of a device that changes its lists without end, which is logged once and counted", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const device = await WireDevice.connect(t, a);
		const changes = 40;
		for (let count = 0; count < changes; count += 1) {
			device.tools = [toolOf(count)];
			device.notify("notifications/tools/list_changed", {});
			await until(() => a.gateway.servers.find(LAMP)?.tools[0]?.description === String(count), "a has read them");
			// A change has been written when a later change of another kind has arrived.
			await a.gateway.servers.edit(LAMP, { tags: [String(count)] });
			await until(() => b.gateway.servers.find(LAMP)?.tags[0] === String(count), "b knows");
		}
		const bucket = await (await nats.openBuckets(t)).open("xsmcp_lists");
		const { length } = await keysIn(bucket);
		assert.ok(length <= 20, `${length} of ${changes + 1}`);
		assert.equal(a.log().split("its lists are not shared, other gateways go on with earlier ones").length, 2);
		assert.ok((await metricOf(a)) > 0);
		assert.equal(b.gateway.servers.find(LAMP)?.online, true);
	});

	it("is full: the log names the device and why, and it is shown as soon as there is room", async (t) => {
		const nats = await NatsServer.start(t);
		const bucket = await (await nats.openBuckets(t)).create("xsmcp_lists", { max_bytes: 8_000 });
		await bucket.put("something", "x".repeat(6_000));
		const [a, b] = (await startCluster(t, nats)) as [StartedProgram, StartedProgram];
		await WireDevice.connect(t, a, { tools: [toolOf("", 4_000)] });
		const refused = new RegExp(
			`${LAMP}: its lists are not shared, other gateways do not show the device: NATS .*maximum bytes`,
		);
		await until(() => refused.test(a.log()), "a says so");
		await until(() => b.log().includes(`${LAMP}: not shown here`), "b says so");
		assert.ok((await metricOf(a)) > 0);
		await bucket.delete("something");
		await untilAt(b, "a");
	});

	it("loses what no device has used at two checks, and nothing that was stored between", async (t) => {
		const nats = await NatsServer.start(t);
		const bucket = await (await nats.openBuckets(t)).create("lists");
		const lists = new Lists();
		const offersOf = (name: string) => ({ tools: [toolOf(name)], resources: [], resourceTemplates: [], prompts: [] });
		const store = async (name: string) => (await lists.store(bucket, LAMP, offersOf(name) as never, 1_000)).key;
		const [used, unused] = [await store("used"), await store("unused")];
		await lists.tidy(bucket, new Set([used]));
		assert.deepEqual((await keysIn(bucket)).sort(), [used, unused].sort());
		// Another gateway stores it again.
		await bucket.put(unused, "{}");
		await lists.tidy(bucket, new Set([used]));
		assert.deepEqual((await keysIn(bucket)).sort(), [used, unused].sort());
		const other = await store("other");
		lists.received({ key: unused, operation: "PUT", revision: await bucket.put(unused, "{}") });
		await lists.tidy(bucket, new Set([used, other]));
		await lists.tidy(bucket, new Set([used, other]));
		assert.deepEqual((await keysIn(bucket)).sort(), [used, other].sort());
	});
});
