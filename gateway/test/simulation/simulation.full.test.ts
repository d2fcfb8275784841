import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bundleCore } from "./bundle.js";
import { OLD_FAULTS } from "./old-faults.js";
import { makePlan } from "./plan.js";
import { propertyOf, Violation } from "./properties.js";
import { Simulator } from "./run.js";
import { shrink } from "./shrink.js";

/** Schedules of the test, and the CPU time after which it stops, ms. */
const SCHEDULES = 2_000;
const MAX_CPU = 60_000;

const STEPS = 30;

function cpuTime(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1_000;
}

describe("the simulation", () => {
	it("finds no property of a cluster that does not hold", async (t) => {
		const simulator = await Simulator.open(await bundleCore());
		t.after(() => simulator.close());
		const end = cpuTime() + MAX_CPU;
		let seed = 1;
		for (; seed <= SCHEDULES && cpuTime() < end; seed += 1) {
			const { failure, story } = await simulator.run(makePlan(seed, STEPS));
			assert.equal(failure, undefined, `seed ${seed}:\n${story.join("\n")}`);
		}
		t.diagnostic(`${seed - 1} schedules`);
	});

	it("makes the same world of the same seed", async (t) => {
		const simulator = await Simulator.open(await bundleCore());
		t.after(() => simulator.close());
		const traces: number[] = [];
		for (const seed of [3, 4, 5, 4, 3]) {
			traces.push((await simulator.run(makePlan(seed, STEPS))).trace);
		}
		const [first, second, , fourth, fifth] = traces;
		assert.deepEqual([fourth, fifth], [second, first]);
		assert.equal(new Set(traces).size, 3);
	});

	for (const { name, patches, seed } of OLD_FAULTS) {
		it(`finds an old fault that is put back: ${name}`, async (t) => {
			const simulator = await Simulator.open(await bundleCore(patches));
			t.after(() => simulator.close());
			const outcome = await simulator.run(makePlan(seed, STEPS));
			assert.ok(outcome.failure instanceof Violation, `seed ${seed} has found it`);
			if (name === "late-close") {
				const { plan, failure } = await shrink(simulator, outcome);
				assert.equal(propertyOf(failure), outcome.failure.property);
				assert.ok(plan.steps.length < STEPS, "fewer steps are needed");
			}
		});
	}
});
