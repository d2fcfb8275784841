import assert from "node:assert/strict";
import { test } from "node:test";
import { Link, Network, NORMAL } from "./network.js";
import { World } from "./world.js";

test("bytes on a simulated connection arrive in the order in which they were sent", async () => {
	const sent = Array.from({ length: 500 }, (_, n) => n);
	for (let seed = 1; seed <= 20; seed += 1) {
		const world = new World(seed);
		const network = new Network(world);
		const arrived: number[] = [];
		const end = { process: undefined, received: (n: number) => void arrived.push(n), ended: () => {} };
		const link = new Link(network, network.path("a>b"), [end, end]);
		// The first one is slow: the others are sent while it is on its way.
		network.disturb("a>b", { delay: [6_000, 7_000] });
		for (const n of sent) {
			await world.pass(world.random.between(...NORMAL));
			link.send(0, n);
			network.disturb("a>b", { delay: NORMAL });
		}
		await world.pass(10_000);
		assert.deepEqual(arrived, sent, `seed ${seed}`);
	}
});
