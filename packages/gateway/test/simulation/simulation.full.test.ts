import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { typeScript } from "../../../../host-test/support/program.js";
import { bundleCore } from "./bundle.js";
import { OLD_FAULTS, STEPS } from "./old-faults.js";
import { makePlan } from "./plan.js";
import { propertyOf, Violation } from "./properties.js";
import { Simulator } from "./run.js";

const SCHEDULES = 2_000;

describe("the simulation", () => {
	it("holds every property of a cluster", async (t) => {
		// In a process of its own: node:test follows every promise, which halves the speed.
		const options = ["--seed", "1", "--schedules", `${SCHEDULES}`, "--steps", `${STEPS}`];
		const args = typeScript("packages/gateway/test/simulation/simulate.ts", ...options);
		const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
		t.after(() => child.kill());
		const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
		assert.equal(code, 0, output);
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

	for (const { name, patches, plan: found } of OLD_FAULTS) {
		it(`finds an old fault that is put back: ${name}`, async (t) => {
			const simulator = await Simulator.open(await bundleCore(patches));
			t.after(() => simulator.close());
			const outcome = await simulator.run(found);
			assert.ok(outcome.failure instanceof Violation, `seed ${found.seed} has found it`);
			if (name === "late-close") {
				const { plan, failure } = await simulator.shrink(outcome);
				assert.equal(propertyOf(failure), propertyOf(outcome.failure));
				assert.ok(plan.steps.length < STEPS, "fewer steps are needed");
			}
		});
	}
});
