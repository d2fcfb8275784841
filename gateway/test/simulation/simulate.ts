// npm run simulate: worlds of gateways, devices and NATS, in which a seed decides everything that happens.
import { makeProgram, ProgramError, runProgram } from "../../../toolchain/program.js";
import { bundleCore } from "./bundle.js";
import { OLD_FAULTS } from "./old-faults.js";
import { makePlan } from "./plan.js";
import { type Outcome, Simulator } from "./run.js";
import { shrink } from "./shrink.js";

interface Options {
	readonly seed: string;
	readonly steps: string;
	readonly schedules: string;
	readonly fault?: string;
	readonly verbose?: boolean;
}

/** Milliseconds between lines of progress. */
const PROGRESS = 30_000;

function numberOf(name: string, text: string): number {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) {
		throw new ProgramError(`--${name}: expected a whole number, got ${text}`);
	}
	return number;
}

function patchesOf(name: string | undefined) {
	const fault = OLD_FAULTS.find((each) => each.name === name);
	if (name !== undefined && fault === undefined) {
		throw new ProgramError(`--fault: expected one of ${OLD_FAULTS.map((each) => each.name).join(", ")}`);
	}
	return fault?.patches ?? [];
}

async function tell(simulator: Simulator, outcome: Outcome): Promise<void> {
	const { plan, story } = await shrink(simulator, outcome);
	console.log(story.join("\n"));
	console.log(`Seed ${outcome.plan.seed}: ${plan.steps.length} of ${outcome.plan.steps.length} steps are needed.`);
}

async function simulate({ fault, verbose, ...numbers }: Options): Promise<number> {
	const first = numberOf("seed", numbers.seed);
	const steps = numberOf("steps", numbers.steps);
	const schedules = numberOf("schedules", numbers.schedules);
	const simulator = await Simulator.open(await bundleCore(patchesOf(fault)));
	const start = performance.now();
	let told = start;
	let [events, states] = [0, 0];
	const report = (count: number): void => {
		const seconds = (performance.now() - start) / 1_000;
		const rates = `${(count / seconds).toFixed(1)} schedules, ${Math.round(states / seconds)} states, ${Math.round(events / seconds)} events a second`;
		console.log(`${count} schedules from seed ${first}: ${rates}`);
	};
	for (let count = 1; count <= schedules; count += 1) {
		const outcome = await simulator.run(makePlan(first + count - 1, steps));
		events += outcome.events;
		states += outcome.states;
		if (outcome.failure !== undefined) {
			await tell(simulator, outcome);
			report(count);
			return 1;
		}
		if (verbose) {
			console.log(outcome.story.join("\n"));
		}
		if (performance.now() - told > PROGRESS) {
			told = performance.now();
			report(count);
		}
	}
	report(schedules);
	return 0;
}

const program = makeProgram("run simulate", "Runs gateways, devices and NATS in simulated worlds")
	.option("--seed <number>", "the first seed", "1")
	.option("--schedules <number>", "worlds, each with the next seed", "1")
	.option("--steps <number>", "steps of each", "30")
	.option("--fault <name>", `puts an old fault back: ${OLD_FAULTS.map(({ name }) => name).join(", ")}`)
	.option("--verbose", "tells the stories of worlds that do not fail, too")
	.action(async (options: Options) => {
		process.exitCode = await simulate(options);
		process.exit();
	});

await runProgram(program);
