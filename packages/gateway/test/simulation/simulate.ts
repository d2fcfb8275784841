// npm run simulate: worlds of gateways, devices and NATS, in which a seed decides everything that happens.
import { InvalidArgumentError, Option } from "commander";
import { makeProgram, runProgram } from "../../../xs-mcp/src/build/program.js";
import { bundleCore } from "./bundle.js";
import { OLD_FAULTS } from "./old-faults.js";
import { makePlan } from "./plan.js";
import { Simulator } from "./run.js";

interface Options {
	readonly seed: number;
	readonly steps: number;
	readonly schedules: number;
	readonly fault?: string;
	readonly verbose?: boolean;
}

/** Milliseconds between lines of progress. */
const PROGRESS = 30_000;

function readNumber(text: string): number {
	if (!/^\d{1,12}$/.test(text)) {
		throw new InvalidArgumentError("Expected a whole number.");
	}
	return Number(text);
}

/** Returns whether every property holds. */
async function simulate({ seed: first, steps, schedules, fault, verbose }: Options): Promise<boolean> {
	const { patches } = OLD_FAULTS.find(({ name }) => name === fault) ?? {};
	const simulator = await Simulator.open(await bundleCore(patches));
	const start = performance.now();
	let reported = start;
	let events = 0;
	const report = (count: number): void => {
		reported = performance.now();
		const perSecond = (amount: number): number => Math.round((amount / (reported - start)) * 10_000) / 10;
		const rates = `${perSecond(count)} schedules, ${perSecond(events)} events a second`;
		console.log(`${count} schedules from seed ${first}: ${rates}`);
	};
	for (let count = 1; count <= schedules; count += 1) {
		const outcome = await simulator.run(makePlan(first + count - 1, steps));
		events += outcome.events;
		if (outcome.failure !== undefined) {
			const { plan, story } = await simulator.shrink(outcome);
			console.log(`${story.join("\n")}\nSeed ${outcome.plan.seed}: ${plan.steps.length} of ${steps} steps are needed.`);
			report(count);
			return false;
		}
		if (verbose) {
			console.log(outcome.story.join("\n"));
		}
		if (performance.now() - reported > PROGRESS) {
			report(count);
		}
	}
	report(schedules);
	return true;
}

const faults = OLD_FAULTS.map(({ name }) => name);
const program = makeProgram("npm run simulate --", "Runs gateways, devices and NATS in simulated worlds")
	.option("--seed <number>", "the first seed", readNumber, 1)
	.option("--schedules <number>", "worlds, each with the next seed", readNumber, 1)
	.option("--steps <number>", "steps of each", readNumber, 30)
	.addOption(new Option("--fault <name>", "puts an old fault back").choices(faults))
	.option("--verbose", "tells the stories of worlds that do not fail, too")
	.action(async (options: Options) => {
		process.exitCode = (await simulate(options)) ? 0 : 1;
		process.exit();
	});

await runProgram(program);
