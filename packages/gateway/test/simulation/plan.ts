import { ACTIONS } from "./actions.js";
import { Random } from "./random.js";

/** One action or fault in the world. An action uses the members that it needs. */
export interface Step {
	/** Milliseconds until the next step. */
	readonly pause: number;
	/** A name in {@link ACTIONS}. */
	readonly do: string;
	/** Its number in the plan. */
	readonly n: number;
	/** Places of gateways, a device and a token. */
	readonly gateway: number;
	readonly other: number;
	readonly device: number;
	readonly token: number;
	/** From 0 to below 1: how long or how bad it is. */
	readonly amount: number;
	/** As {@link amount}, for something else. */
	readonly chance: number;
}

/** The size of a world, and its steps. */
export interface Plan {
	readonly seed: number;
	readonly devices: number;
	/** How much each gateway's clock is ahead, ms. */
	readonly clocks: readonly number[];
	readonly steps: readonly Step[];
}

/** Tokens of clients: the even ones may reach every device, the others only the first. */
const TOKENS = 4;

/** Every action as often as its weight says. */
const KINDS = Object.entries(ACTIONS).flatMap(([kind, [weight]]) => Array<string>(weight).fill(kind));

/** Makes the plan of a seed: the same for the same seed and number of steps. */
export function makePlan(seed: number, length: number): Plan {
	const random = new Random(seed ^ 0x5eed);
	const gateways = random.chance(0.6) ? 2 : 3;
	const devices = 1 + random.below(3);
	const clocks = Array.from({ length: gateways }, () => (random.chance(0.2) ? random.below(60_000) - 30_000 : 0));
	// Some worlds are calm, in others much happens at once. Calm ones take longest.
	const haste = random.chance(0.1) ? 3 : random.pick([0.05, 0.3, 1]);
	const steps = Array.from({ length }, (_, n): Step => {
		const kind = random.pick(KINDS);
		// Operators may change the same at several gateways at once.
		const isAtOnce = (kind === "rename" || kind === "forget") && random.chance(0.4);
		return {
			pause: isAtOnce ? 0 : Math.round(random.fraction() ** 2 * 2_000 * haste),
			do: kind,
			n,
			gateway: random.below(gateways),
			other: random.below(gateways),
			device: random.below(devices),
			token: random.below(TOKENS),
			amount: random.fraction(),
			chance: random.fraction(),
		};
	});
	return { seed, devices, clocks, steps };
}
