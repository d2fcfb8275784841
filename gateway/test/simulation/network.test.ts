import assert from "node:assert/strict";
import { test } from "node:test";
import { Link, Network } from "./network.js";
import { World } from "./world.js";

test("what is sent on a connection of the simulation arrives in its order", async () => {
	const world = new World(1);
	const network = new Network(world);
	const arrived: number[] = [];
	const end = { process: undefined, received: (n: number) => void arrived.push(n), ended: () => {} };
	const link = new Link(network, network.path("a>b"), [end, end]);
	const sent = Array.from({ length: 500 }, (_, n) => n);
	for (const n of sent) {
		network.disturb("a>b", { delay: n % 20 === 0 ? [0, 8_000] : [0, 2] });
		link.send(0, n);
		await world.pass(world.random.between(0, 300));
	}
	await world.pass(10_000);
	assert.deepEqual(arrived, sent);
});
