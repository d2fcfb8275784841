import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { MemoryStore } from "xs-mcp-manager/core";
import { makeWebhookStore } from "../src/events/webhook-store.js";

const KEY = Buffer.alloc(32, 1).toString("base64url");

const RECORD = {
	id: "sub_1",
	holder: "holder",
	name: "button.pressed",
	arguments: {},
	url: "https://example.com/hook",
	secret: "whsec_secret",
	cursor: "0123456789ab.7",
	expires: 2_000_000_000_000,
};

/** Opens the webhooks of a gateway in a cluster; `seen` has the cursor of each report, and whether it delivers. */
function openIn(t: TestContext, store: MemoryStore, gateway: string, isPresent: () => boolean, key = KEY) {
	const seen: [cursor: string | undefined, isOurs: boolean][] = [];
	const warnings: string[] = [];
	const self = { gateway, incarnation: `${gateway}1` };
	const webhooks = makeWebhookStore(store, key, { self, isPresent });
	webhooks.on("warning", (text) => warnings.push(text));
	webhooks.on("record", ({ cursor }, isOurs) => seen.push([cursor, isOurs]));
	webhooks.on("removed", () => seen.push([undefined, false]));
	webhooks.open();
	t.after(() => webhooks.close());
	return { webhooks, seen, warnings };
}

describe("the webhooks of two gateways on one store", () => {
	it("are delivered by the gateway that accepted them, and by the other one once that is gone", async (t) => {
		t.mock.timers.enable({ apis: ["setInterval"] });
		let now = 0;
		t.mock.method(performance, "now", () => now);
		const pass = async (time: number): Promise<void> => {
			for (let passed = 0; passed < time; passed += 500) {
				now += 500;
				t.mock.timers.tick(500);
				await store.flush();
			}
		};
		const store = new MemoryStore();
		let isPresent = true;
		const a = openIn(t, store, "a", () => true);
		const b = openIn(t, store, "b", () => isPresent);
		await a.webhooks.put(RECORD);
		a.webhooks.moved(RECORD.id, "0123456789ab.8");
		await store.flush();
		await pass(5_000);
		assert.deepEqual([a.seen.at(-1)?.[1], b.seen.at(-1)?.[1]], [true, false]);
		isPresent = false;
		await pass(1_000);
		assert.equal(b.seen.at(-1)?.[1], false, "it may only be late");
		await pass(1_000);
		assert.deepEqual(b.seen.at(-1), ["0123456789ab.8", true]);
		assert.deepEqual(a.seen.at(-1)?.[1], false);
		await b.webhooks.remove(RECORD.id);
		await store.flush();
		assert.deepEqual([a.seen.at(-1)?.[0], store.list("webhook/"), store.list("event-cursor/")], [undefined, [], []]);
	});

	it("go on where they were after an outage, although that could not be stored yet", async (t) => {
		const store = new MemoryStore();
		const { webhooks, seen } = openIn(t, store, "a", () => true);
		await webhooks.put(RECORD);
		store.emit("disconnected");
		webhooks.moved(RECORD.id, "0123456789ab.9");
		store.emit("connected");
		assert.deepEqual(seen.at(-1), ["0123456789ab.9", true]);
	});

	it("keep the progress of a delivery that began before the subscription was stored", async (t) => {
		const store = new MemoryStore();
		const { webhooks } = openIn(t, store, "a", () => true);
		const stored = webhooks.put(RECORD);
		webhooks.moved(RECORD.id, "0123456789ab.8");
		await stored;
		await store.flush();
		assert.equal(store.get(`event-cursor/${RECORD.id}`)?.value, "0123456789ab.8");
	});

	it("are not taken over by a gateway with another device-key, which says why", async (t) => {
		t.mock.timers.enable({ apis: ["setInterval"] });
		const store = new MemoryStore();
		const a = openIn(t, store, "a", () => true);
		await a.webhooks.put(RECORD);
		let now = performance.now();
		t.mock.method(performance, "now", () => now);
		const { warnings } = openIn(t, store, "b", () => false, Buffer.alloc(32, 2).toString("base64url"));
		for (let tick = 0; tick < 10; tick += 1) {
			now += 500;
			t.mock.timers.tick(500);
		}
		assert.deepEqual(warnings, ["a webhook of gateway a cannot be read here: is the device-key another one?"]);
		assert.equal((store.list("webhook/")[0]?.value as { gateway: string } | undefined)?.gateway, "a");
	});
});
