import type { Plan } from "./plan.js";
import { propertyOf } from "./properties.js";
import type { Outcome, Simulator } from "./run.js";

/** Most worlds for one failure. */
const MAX_ATTEMPTS = 300;

/**
 * Leaves out steps of a plan that fails, as long as the same property fails. Returns the shortest outcome that was found.
 *
 * Parts of halving length are left out, one after the other: the algorithm ddmin, without its complements.
 */
export async function shrink(simulator: Simulator, failed: Outcome): Promise<Outcome> {
	const property = propertyOf(failed.failure);
	let best = failed;
	let attempts = 0;
	for (let size = Math.ceil(best.plan.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
		for (let from = 0; from < best.plan.steps.length && attempts < MAX_ATTEMPTS; ) {
			const steps = best.plan.steps.filter((_, i) => i < from || i >= from + size);
			const plan: Plan = { ...best.plan, steps };
			const outcome = await simulator.run(plan, true);
			attempts += 1;
			if (propertyOf(outcome.failure) === property) {
				best = outcome;
			} else {
				from += size;
			}
		}
	}
	return best;
}
