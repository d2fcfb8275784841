import { readFileSync } from "node:fs";
import { makePlan, type Plan, type Step } from "./plan.js";

/** A change of the sources, by which an old fault is put back. */
export interface Patch {
	/** Path in this repository. */
	readonly file: string;
	/** Text that is in the file once. */
	readonly from: string;
	readonly to: string;
}

/** Steps of a plan, if the fault does not name them. */
export const STEPS = 30;

/**
 * Faults that the gateway had, a world that finds each, and how to put it back. `npm run simulate -- --fault NAME` shows how many
 * seeds find one of them.
 */
export const OLD_FAULTS = readFileSync(new URL("old-faults.patch", import.meta.url), "utf8")
	.split(/^fault /m)
	.slice(1)
	.map((text) => {
		const [, name = "", seed] = /^(\S+), seed (\d+)/.exec(text) ?? [];
		const [header = "", ...patches] = text.split(/^--- /m);
		const steps = [...header.matchAll(/^step (.*)/gm)].map(([, step = ""], n) => readStep(step, n));
		const plan: Plan = { seed: Number(seed), devices: 1, clocks: [0, 0, 0], steps };
		return { name, plan: steps.length > 0 ? plan : makePlan(plan.seed, STEPS), patches: patches.map(readPatch) };
	});

/** Reads `connect, gateway 1, pause 500`. */
function readStep(text: string, n: number): Step {
	const [kind = "", ...members] = text.split(", ");
	const given = Object.fromEntries(members.map((each) => [each.split(" ")[0], Number(each.split(" ")[1])]));
	return { do: kind, n, pause: 0, gateway: 0, other: 0, device: 0, token: 0, amount: 0, chance: 0.9, ...given };
}

function readPatch(text: string): Patch {
	const [file = "", ...lines] = text.split("\n");
	const linesWith = (sign: string): string =>
		lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join("\n");
	return { file, from: linesWith("-"), to: linesWith("+") };
}
