import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../../src/engine/engine.js";
import { GOOD_NETWORK, NetworkFaults, type TracedMessage } from "../../src/services/network-faults.js";
import type { Deliver, Service } from "../../src/services/service.js";

/** A network client that is told what arrives, with what the firmware gets of it. */
function open(prefix: string) {
	const traced: TracedMessage[] = [];
	const arrived: Message[] = [];
	const taken: string[] = [];
	const faults = new NetworkFaults((message) => traced.push(message));
	let arrive: Deliver = () => {};
	const make = (deliver: Deliver): Service => {
		arrive = deliver;
		return { prefix, take: (kind, [id]) => taken.push(`${kind} ${id}`), close: () => taken.push("closed") };
	};
	const [client] = faults.open([make], (message) => arrived.push(message));
	assert.ok(client);
	return {
		faults,
		client,
		traced,
		taken,
		kinds: () => arrived.map(({ header }) => `${header[0]} ${header[1]}`),
		arrive: (...header: unknown[]) => arrive({ header, bytes: Buffer.from(String(header[1])) }),
	};
}

describe("the network of a virtual device", () => {
	it("is lost: connections end, and new ones fail until it is good again", () => {
		const { faults, client, taken, kinds } = open("ws");
		client.take("open", [1], undefined);
		faults.conditions = { ...GOOD_NETWORK, lost: true };
		client.take("open", [2], undefined);
		assert.deepEqual(
			[taken, kinds()],
			[
				["open 1", "closed"],
				["ws.error 1", "ws.error 2"],
			],
		);
		faults.conditions = GOOD_NETWORK;
		client.take("open", [3], undefined);
		assert.deepEqual(taken.slice(2), ["open 3"]);
	});

	it("is silent: what the backend says is traced and does not arrive, but that connections open and end does", () => {
		const { faults, client, traced, kinds, arrive } = open("ws");
		client.take("open", [1], undefined);
		faults.conditions = { ...GOOD_NETWORK, silent: true };
		arrive("ws.writable", 1, 100);
		arrive("ws.message", 1, { from: "device" });
		arrive("ws.message", 1, { from: "backend" });
		arrive("ws.data", 1, { more: false });
		arrive("ws.closed", 1);
		assert.deepEqual(kinds(), ["ws.writable 1", "ws.closed 1"]);
		assert.deepEqual(
			traced.map(({ from, arrived }) => [from, arrived]),
			[
				["device", true],
				["backend", false],
			],
		);
	});

	it("does not let the rest of a response through whose beginning was silenced", () => {
		const { faults, client, kinds, arrive } = open("http");
		client.take("open", [1], undefined);
		faults.conditions = { ...GOOD_NETWORK, silent: true };
		arrive("http.headers", 1, 200, []);
		faults.conditions = GOOD_NETWORK;
		arrive("http.data", 1, null);
		arrive("http.headers", 2, 200, []);
		assert.deepEqual(kinds(), ["http.headers 2"]);
	});

	it("is late: all arrives in its order, also when the delay has become shorter", async () => {
		const { faults, client, kinds, arrive } = open("ws");
		client.take("open", [1], undefined);
		faults.conditions = { ...GOOD_NETWORK, delay: 40 };
		arrive("ws.data", 1, { more: false });
		faults.conditions = GOOD_NETWORK;
		arrive("ws.data", 2, { more: false });
		assert.deepEqual(kinds(), []);
		while (kinds().length < 2) {
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		assert.deepEqual(kinds(), ["ws.data 1", "ws.data 2"]);
	});

	it("leaves connections open when the device has lost its power, and closes them at last", () => {
		const { client, taken } = open("ws");
		client.take("open", [1], undefined);
		client.abandon();
		assert.deepEqual(taken, ["open 1", "pause 1"]);
		client.close();
		assert.deepEqual(taken.slice(2), ["closed"]);
	});
});
