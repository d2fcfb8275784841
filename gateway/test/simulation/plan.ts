import { Random } from "./random.js";

/** One action or fault in the world, and the milliseconds until the next. */
type Step = { readonly pause: number } & Action;

export type Action =
	| { readonly do: "connect"; readonly device: number; readonly gateway: number }
	| { readonly do: "leave"; readonly device: number; readonly isSilent: boolean }
	| {
			readonly do: "call";
			readonly n: number;
			readonly gateway: number;
			readonly token: number;
			readonly device: number;
			readonly ms: number;
	  }
	| { readonly do: "report"; readonly n: number; readonly device: number }
	| { readonly do: "add token" | "remove token"; readonly gateway: number; readonly token: number }
	| { readonly do: "rename"; readonly gateway: number; readonly device: number; readonly alias: string }
	| { readonly do: "swap names"; readonly gateway: number; readonly devices: readonly [number, number] }
	| { readonly do: "forget"; readonly gateway: number; readonly device: number }
	| { readonly do: "make code"; readonly gateway: number }
	| { readonly do: "enter code"; readonly gateways: readonly number[] }
	| { readonly do: "restart NATS"; readonly time: number; readonly isLost: boolean }
	| { readonly do: "fill NATS" | "free NATS" }
	| Disturbance;

/** Faults of one gateway. Times in ms. */
export type Disturbance =
	| {
			readonly do: "slow" | "hold" | "cut" | "heal" | "freeze";
			readonly gateway: number;
			readonly time: number;
	  }
	| { readonly do: "kill" | "stop" | "start"; readonly gateway: number }
	/** The gateway is killed after so many messages to NATS. */
	| { readonly do: "kill at write"; readonly gateway: number; readonly messages: number };

/** The size of a world, and its steps. */
export interface Plan {
	readonly seed: number;
	readonly gateways: number;
	readonly devices: number;
	/** How much each gateway's clock is ahead, ms. */
	readonly clocks: readonly number[];
	readonly steps: readonly Step[];
}

/** How often each action happens. */
const WEIGHTS: readonly (readonly [Action["do"], number])[] = [
	["connect", 14],
	["leave", 6],
	["call", 22],
	["report", 8],
	["add token", 3],
	["remove token", 3],
	["rename", 6],
	["swap names", 2],
	["forget", 3],
	["make code", 2],
	["enter code", 4],
	["slow", 5],
	["hold", 4],
	["cut", 4],
	["heal", 8],
	["freeze", 2],
	["kill", 2],
	["kill at write", 2],
	["stop", 2],
	["start", 7],
	["restart NATS", 2],
	["fill NATS", 1],
	["free NATS", 2],
];

const TOTAL = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);

/** Tokens of clients: the even ones may reach every device, the others only the first. */
const TOKENS = 4;

/** Makes the plan of a seed: the same for the same seed and number of steps. */
export function makePlan(seed: number, length: number): Plan {
	const random = new Random(seed ^ 0x5eed);
	const gateways = random.chance(0.6) ? 2 : 3;
	const devices = 1 + random.below(3);
	const clocks = Array.from({ length: gateways }, () => (random.chance(0.2) ? random.below(60_000) - 30_000 : 0));
	// Some worlds are calm, in others much happens at once. Calm ones take longest.
	const haste = random.chance(0.1) ? 3 : random.pick([0.05, 0.3, 1]);
	const steps = Array.from({ length }, (_, n): Step => {
		const action = makeAction(random, n, gateways, devices);
		// Operators may change the same at several gateways at once.
		const isAtOnce = (action.do === "rename" || action.do === "forget") && random.chance(0.4);
		return { pause: isAtOnce ? 0 : Math.round(random.fraction() ** 2 * 2_000 * haste), ...action };
	});
	return { seed, gateways, devices, clocks, steps };
}

function pickKind(random: Random): Action["do"] {
	let left = random.below(TOTAL);
	for (const [kind, weight] of WEIGHTS) {
		left -= weight;
		if (left < 0) {
			return kind;
		}
	}
	throw new RangeError("unreachable");
}

function makeAction(random: Random, n: number, gateways: number, devices: number): Action {
	const [gateway, device, token] = [random.below(gateways), random.below(devices), random.below(TOKENS)];
	const kind = pickKind(random);
	switch (kind) {
		case "connect":
		case "forget":
			return { do: kind, device, gateway };
		case "leave":
			return { do: kind, device, isSilent: random.chance(0.5) };
		case "call":
			return { do: kind, n, gateway, token, device, ms: random.chance(0.7) ? 5 : random.below(4_000) };
		case "report":
			return { do: kind, n, device };
		case "add token":
		case "remove token":
			return { do: kind, gateway, token };
		case "rename":
			return { do: kind, gateway, device, alias: random.chance(0.5) ? `name${random.below(3)}` : `new${n}` };
		case "swap names":
			return { do: kind, gateway, devices: [device, (device + 1) % devices] };
		case "make code":
			return { do: kind, gateway };
		case "enter code":
			return { do: kind, gateways: [gateway, random.below(gateways)] };
		case "slow":
		case "hold":
		case "cut":
		case "heal":
			return { do: kind, gateway, time: random.pick([300, 2_000, 5_500, 8_000]) };
		case "freeze":
			return { do: kind, gateway, time: random.pick([1_000, 3_000, 12_000]) };
		case "kill":
		case "stop":
		case "start":
			return { do: kind, gateway };
		case "kill at write":
			return { do: kind, gateway, messages: random.below(30) };
		case "restart NATS":
			return { do: kind, time: random.below(3_000), isLost: random.chance(0.3) };
		case "fill NATS":
		case "free NATS":
			return { do: kind };
	}
}
