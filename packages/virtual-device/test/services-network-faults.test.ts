import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../src/engine/engine.js";
import { GOOD_NETWORK, makeNetworkFaults } from "../src/services/network-faults.js";
import type { Deliver } from "../src/services/service.js";

/** A network client, and the messages that reach the firmware from it. */
function open(prefix: string) {
	const arrived: Message[] = [];
	const faults = makeNetworkFaults(() => {});
	let arrive: Deliver = () => {};
	const [client] = faults.open(
		[
			(deliver) => {
				arrive = deliver;
				return { prefix, take() {}, close() {} };
			},
		],
		(message) => arrived.push(message),
	);
	client?.take("open", [1]);
	return {
		faults,
		kinds: () => arrived.map(({ header }) => `${header[0]} ${header[1]}`),
		arrive: (...header: unknown[]) => arrive({ header }),
	};
}

describe("the network of a virtual device", () => {
	it("does not let the rest of a response through whose beginning was silenced", () => {
		const { faults, kinds, arrive } = open("http");
		faults.conditions = { ...GOOD_NETWORK, silent: true };
		arrive("http.headers", 1, 200, []);
		faults.conditions = GOOD_NETWORK;
		arrive("http.data", 1, null);
		arrive("http.headers", 2, 200, []);
		assert.deepEqual(kinds(), ["http.headers 2"]);
	});

	it("is late: all arrives in its order, also when the delay has become shorter", async () => {
		const { faults, kinds, arrive } = open("ws");
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
});
