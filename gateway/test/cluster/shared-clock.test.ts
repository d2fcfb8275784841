import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SharedClock } from "../../src/cluster/shared-clock.js";

describe("the clock of a cluster", () => {
	it("is that of NATS, by the most exact measurement, until the clocks no longer match it", () => {
		const warnings: string[] = [];
		const clock = new SharedClock((message) => warnings.push(message));
		assert.equal(clock.difference, 0);
		clock.learn(100_050, 100_000, 100_100);
		assert.equal(clock.difference, 0);
		clock.learn(100_030, 100_000, 100_020);
		assert.equal(clock.difference, 20, "it took 20 ms only");
		clock.learn(200_500, 200_000, 200_900);
		assert.equal(clock.difference, 20, "it could be as much");
		assert.deepEqual(warnings, []);
		clock.learn(300_000, 900_000, 900_020);
		clock.learn(300_100, 900_100, 900_120);
		assert.equal(clock.difference, -600_010);
		assert.equal(warnings.length, 1);
		assert.match(warnings[0] ?? "", /clock is 600\.0 s ahead of that of NATS/);
	});
});
