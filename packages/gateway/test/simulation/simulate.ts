// npm run simulate: worlds of gateways, devices and NATS, in which a seed decides everything that happens.
import { Option } from "commander";
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
}

/** Milliseconds between lines of progress. */
const PROGRESS = 30_000;

/** Returns whether every property holds. */
async function simulate({ seed: first, steps, schedules, fault }: Options): Promise<boolean> {
	const { patches } = OLD_FAULTS.find(({ name }) => name === fault) ?? {};
	const simulator = await Simulator.open(await bundleCore(patches));
	const start = performance.now();
	let reported = start;
	const report = (count: number): void => {
		reported = performance.now();
		const rate = (count * 1_000) / (reported - start);
		console.log(`${count} schedules from seed ${first}: ${rate.toFixed(1)} a second`);
	};
	for (let count = 1; count <= schedules; count += 1) {
		const outcome = await simulator.run(makePlan(first + count - 1, steps));
		if (outcome.failure !== undefined) {
			const { plan, story } = await simulator.shrink(outcome);
			console.log(`${story.join("\n")}\nSeed ${outcome.plan.seed}: ${plan.steps.length} of ${steps} steps are needed.`);
			report(count);
			return false;
		}
		if (performance.now() - reported > PROGRESS) {
			report(count);
		}
	}
	report(schedules);
	return true;
}

const program = makeProgram("npm run simulate --", "Runs gateways, devices and NATS in simulated worlds")
	.option("--seed <number>", "the first seed", Number, 1)
	.option("--schedules <number>", "worlds, each with the next seed", Number, 1)
	.option("--steps <number>", "steps of each", Number, 30)
	.addOption(new Option("--fault <name>", "puts an old fault back").choices(OLD_FAULTS.map(({ name }) => name)))
	.action(async (options: Options) => {
		process.exitCode = (await simulate(options)) ? 0 : 1;
		process.exit();
	});

await runProgram(program);
