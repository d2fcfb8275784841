import { act, call, enterCode, makeCode } from "./actions.js";
import type * as Core from "./core/index.js";
import type { Host } from "./host.js";
import { makePlan, type Plan } from "./plan.js";
import { checkAlways, checkQuiet, Violation } from "./properties.js";
import { load } from "./sandbox.js";
import { Town } from "./town.js";

/** Milliseconds without faults after which every gateway knows everything. */
const QUIET = 30_000;

/** Numbers of the calls at the end. */
const LAST_CALLS = 1_000_000;

/** How a schedule went. */
export interface Outcome {
	readonly plan: Plan;
	/** Undefined: every property holds. */
	readonly failure: Error | undefined;
	readonly events: number;
	/** States that were checked. */
	readonly states: number;
	/** The same for the same plan. */
	readonly trace: number;
	readonly story: readonly string[];
}

/** Runs plans in worlds of their own, one after the other. */
export class Simulator {
	readonly #core: typeof Core;
	#town: Town | undefined;

	private constructor(code: string) {
		this.#core = load<typeof Core>(code, "simulated-core.cjs");
		process.on("unhandledRejection", this.#onRejection);
	}

	/** @param code of `bundleCore` */
	static async open(code: string): Promise<Simulator> {
		const simulator = new Simulator(code);
		// What libraries keep when they are first used, must not make the first world different.
		await simulator.run(makePlan(0, 5));
		return simulator;
	}

	close(): void {
		process.off("unhandledRejection", this.#onRejection);
	}

	/** @param hasStacks whether errors say where they come from, which takes time */
	async run(plan: Plan, hasStacks = false): Promise<Outcome> {
		const { stackTraceLimit } = Error;
		Error.stackTraceLimit = hasStacks ? 30 : 0;
		try {
			return await this.#run(plan);
		} finally {
			Error.stackTraceLimit = stackTraceLimit;
		}
	}

	async #run(plan: Plan): Promise<Outcome> {
		const town = new Town(this.#core, plan);
		this.#town = town;
		let states = 0;
		let failure: Error | undefined;
		const check = (run: (town: Town) => void): void => {
			states += 1;
			if (town.world.failure !== undefined) {
				throw town.world.failure;
			}
			run(town);
		};
		try {
			await town.open();
			for (const { pause, ...action } of plan.steps) {
				act(town, action);
				await town.world.pass(pause);
				check(checkAlways);
			}
			await finish(town, check);
		} catch (error) {
			failure = error as Error;
			town.say("", `FAILED ${failure instanceof Violation ? failure.message : (failure.stack ?? failure.message)}`);
		}
		this.#end(town);
		const { events, trace } = town.world;
		return { plan, failure, events, states, trace, story: town.story };
	}

	#end(town: Town): void {
		for (const host of town.hosts) {
			town.kill(host);
		}
		this.#town = undefined;
	}

	readonly #onRejection = (error: unknown): void => {
		this.#town?.world.fail(new Violation("nothing ends the process", (error as Error)?.stack ?? String(error)));
	};
}

/** Everything is repaired: then everything must work again. */
async function finish(town: Town, check: (run: (town: Town) => void) => void): Promise<void> {
	town.say("", "every fault ends");
	town.heal();
	await town.world.pass(QUIET / 2);
	// What could not start before has another attempt.
	town.heal();
	await town.world.pass(QUIET);
	check(checkQuiet);
	checkCalls(town);
	await checkCodes(town);
	await town.world.pass(5_000);
	check(checkQuiet);
	for (const { n, answers, gateway } of town.ledger.calls.filter(({ n }) => n >= LAST_CALLS)) {
		if (answers[0]?.text === undefined) {
			const details = `${n} at ${gateway}: ${JSON.stringify(answers)}`;
			throw new Violation("a device that is online can be called from everywhere", details);
		}
	}
}

/** Calls every device that is online, from each gateway. */
function checkCalls(town: Town): void {
	let n = LAST_CALLS;
	const valid = [...town.ledger.tokens].find(([, { state, device }]) => state === "valid" && device === undefined);
	for (const [device, { gateway: at }] of town.devices.entries()) {
		for (const gateway of at === undefined || valid === undefined ? [] : town.hosts.keys()) {
			call(town, { n: n++, gateway, token: valid?.[0] ?? 0, device, ms: 5 });
		}
	}
}

/** A code of one gateway is valid at another one, once. */
async function checkCodes(town: Town): Promise<void> {
	for (const host of town.hosts) {
		makeCode(town, host);
		await town.world.pass(2_000);
		const others = [...town.hosts.keys()].filter((place) => (town.hosts[place] as Host) !== host);
		enterCode(town, [others[0] as number]);
		await town.world.pass(1_000);
		if (town.ledger.codes.at(-1)?.takenBy.length !== 1) {
			throw new Violation("a code is valid at every gateway", `that of ${host.name} is not`);
		}
		enterCode(town, [...town.hosts.keys()]);
		await town.world.pass(1_000);
	}
}
