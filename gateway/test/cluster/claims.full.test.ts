import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { KV, KvPutOptions } from "@nats-io/kv";
import type { Server, ServerRecord, Session } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/until.js";
import type { Buckets } from "../../src/cluster/bus.js";
import { Claims } from "../../src/cluster/claims.js";
import { Lists } from "../../src/cluster/lists.js";
import { type Entry, keyOf } from "../../src/cluster/messages.js";
import { SharedClock } from "../../src/cluster/shared-clock.js";
import { LAMP } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

/** Members of a server that become an entry. */
type Device = Pick<Server, "id" | "online" | "offers"> & { record: ServerRecord };

const setTags = (device: Device, tags: string[]): void => {
	device.record = { ...device.record, tags };
};

/** A device that is here. NATS delivers each change of its entry, after `whileWriting`, before it confirms it. */
async function openClaims(t: TestContext, whileWriting: (server: Device) => void) {
	const kvm = await (await NatsServer.start(t)).openBuckets(t);
	const [devices, lists] = [await kvm.create("devices"), await kvm.create("lists")];
	const board = { name: "lamp", version: "1" };
	const offers = { tools: [], resources: [], resourceTemplates: [], prompts: [] };
	const record: ServerRecord = { id: LAMP, alias: "lamp", tags: [], board, offers, lastSeen: 0 };
	const server: Device = { id: LAMP, online: true, record, offers };
	const early: KV = new Proxy(devices, {
		get: (_target, name) =>
			name === "put"
				? async (key: string, text: string, options: Partial<KvPutOptions>) => {
						const confirmed = await devices.put(key, text, options);
						whileWriting(server);
						claims.received(JSON.parse(text), confirmed);
						return confirmed;
					}
				: Reflect.get(devices, name).bind(devices),
	});
	const claims: Claims = new Claims({
		gateway: "a",
		incarnation: "1",
		buckets: () => ({ devices: early, lists }) as unknown as Buckets,
		maxBytes: () => 1_000_000,
		lists: new Lists(),
		clock: new SharedClock(assert.fail),
		onEntry: () => {},
		aliasSetAt: () => undefined,
		onLost: assert.fail,
		warn: assert.fail,
	});
	const identity = { id: LAMP, clientId: "", transport: "websocket" };
	claims.begin(server as Server, { identity, capabilities: {} } as unknown as Session);
	await until(async () => (await devices.get(keyOf(LAMP))) !== null, "the device is stored");
	await claims.flush();
	const stored = async (): Promise<unknown> => (await devices.get(keyOf(LAMP)))?.json<Entry>().tags;
	return { claims, server, stored };
}

describe("the tags of a device that is here", { skip: whyNoNats }, () => {
	it("are stored if they change while NATS delivers the change before, and then confirms it", async (t) => {
		let updates = 0;
		const change = (server: Device): void => {
			updates += 1;
			if (updates === 2) {
				setTags(server, ["second"]);
			}
		};
		const { claims, server, stored } = await openClaims(t, change);
		setTags(server, ["first"]);
		await claims.flush();
		await claims.flush();
		assert.deepEqual([server.record.tags, await stored()], [["second"], ["second"]]);
	});
});
