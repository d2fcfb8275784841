import { act, addToken, call, enterCode, makeCode } from "./actions.js";
import type * as Core from "./core.js";
import { makePlan, type Plan } from "./plan.js";
import { checkAlways, checkQuiet, isQuiet, propertyOf, Violation } from "./properties.js";
import { load } from "./sandbox.js";
import { type Host, Town } from "./town.js";

/** Milliseconds without faults after which every gateway knows everything: lists that a full NATS refused are stored within 60 s. */
const MAX_QUIET = 75_000;

/** Milliseconds between the checks of that. */
const QUIET_CHECK = 1_000;

/** Every so many seeds, a world goes on until {@link MAX_QUIET}: what is right at first may become wrong. */
const LONG_WORLDS = 32;

/** Milliseconds in which every gateway knows a new code; longer if a request to NATS before a cut still waits. */
const SHARE_TIME = 1_000;
const MAX_SHARE_TIME = 8_000;

/** Numbers of the calls at the end. */
const LAST_CALLS = 1_000_000;

/** Most worlds to find the steps that a failure needs. */
const MAX_ATTEMPTS = 300;

/** How a schedule went. */
export interface Outcome {
	readonly plan: Plan;
	/** Undefined: every property holds. */
	readonly failure: Error | undefined;
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
		// Caches that libraries fill at first use must not make the first world different.
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
		const town = new Town(this.#core, plan);
		this.#town = town;
		let failure: Error | undefined;
		try {
			await live(town, plan);
		} catch (error) {
			failure = error as Error;
			town.say("", `FAILED ${failure instanceof Violation ? failure.message : (failure.stack ?? failure.message)}`);
		}
		for (const host of town.hosts) {
			host.end();
		}
		this.#town = undefined;
		Error.stackTraceLimit = stackTraceLimit;
		return { plan, failure, trace: town.world.trace, story: town.story };
	}

	/**
	 * Leaves out steps of a plan that fails, as long as the same property fails. Returns the shortest outcome that was found.
	 *
	 * Parts of halving length are left out, one after the other: the algorithm ddmin, without its complements.
	 */
	async shrink(failed: Outcome): Promise<Outcome> {
		const property = propertyOf(failed.failure);
		let best = failed;
		let attempts = 0;
		for (let size = Math.ceil(best.plan.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
			for (let from = 0; from < best.plan.steps.length && attempts < MAX_ATTEMPTS; ) {
				const steps = best.plan.steps.filter((_, i) => i < from || i >= from + size);
				const outcome = await this.run({ ...best.plan, steps }, true);
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

	readonly #onRejection = (error: unknown): void => {
		const failure = new Violation("nothing ends the process", (error as Error)?.stack ?? String(error));
		if (this.#town !== undefined) {
			this.#town.world.failure ??= failure;
		}
	};
}

/** Does what the plan says. Then everything is repaired, and must work again. Rejects with Violation. */
async function live(town: Town, { steps, seed }: Plan): Promise<void> {
	await town.open();
	for (const step of steps) {
		act(town, step);
		await town.world.pass(step.pause);
		checkAlways(town);
	}
	town.say("", "every fault ends");
	await calmDown(town, seed % LONG_WORLDS === 0);
	checkQuiet(town);
	await checkCodes(town);
	await checkCalls(town);
	// A device whose gateway had stopped may have connected to another one only now.
	await calmDown(town, false);
	checkQuiet(town);
}

/** Lets time pass without faults: until all is well twice in a row, or for as long as it may take. */
async function calmDown(town: Town, isLong: boolean): Promise<void> {
	const end = town.world.now + MAX_QUIET;
	let times = 0;
	while (town.world.now < end && (isLong || times < 2)) {
		// Again and again: a process that ends only now is started, too.
		town.heal();
		await town.world.pass(QUIET_CHECK);
		times = isQuiet(town) ? times + 1 : 0;
	}
}

/** Lets time pass until something is true, or for at most so many milliseconds. */
async function until(town: Town, time: number, isTrue: () => boolean): Promise<void> {
	const end = town.world.now + time;
	while (town.world.now < end && !isTrue()) {
		await town.world.pass(50);
	}
}

/** Every device that is online can be called from each gateway, with the token at place 0, which is added if there is none. */
async function checkCalls(town: Town): Promise<void> {
	const { world, ledger, hosts, devices } = town;
	addToken(town, hosts[0] as Host, 0);
	await until(town, MAX_SHARE_TIME, () => ledger.tokens.get(0)?.state === "valid");
	await world.pass(SHARE_TIME);
	const end = world.now + MAX_QUIET;
	for (let n = LAST_CALLS; ; await world.pass(QUIET_CHECK)) {
		const first = ledger.calls.length;
		for (const { id } of devices.filter(({ gateway }) => gateway !== undefined)) {
			for (const host of hosts) {
				call(town, host, id, n++, 0, 5);
			}
		}
		const calls = ledger.calls.slice(first);
		await until(town, 5_000, () => calls.every(({ answers }) => answers.length > 0));
		const failed = calls.find(({ answers }) => answers[0]?.text === undefined);
		if (failed === undefined) {
			return;
		}
		if (world.now > end) {
			const details = `${failed.n} at ${failed.gateway}: ${JSON.stringify(failed.answers)}`;
			throw new Violation("a device that is online can be called from everywhere", details);
		}
	}
}

/** A code of one gateway is valid at another one, once. */
async function checkCodes(town: Town): Promise<void> {
	const { world, ledger, hosts } = town;
	for (const host of hosts) {
		const before = ledger.codes.length;
		makeCode(town, host);
		const isTaken = (): boolean => ledger.codes.length > before && ledger.codes.at(-1)?.takenBy.length === 1;
		const end = world.now + MAX_SHARE_TIME;
		while (!isTaken()) {
			if (world.now > end) {
				throw new Violation("a code is valid at every gateway", `that of ${host.name} is not`);
			}
			await world.pass(SHARE_TIME);
			enterCode(town, [hosts.find((each) => each !== host) as Host]);
			await until(town, SHARE_TIME, isTaken);
		}
		enterCode(town, hosts);
		await world.pass(200);
	}
}
