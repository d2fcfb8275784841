import type { Naming, Token } from "./ledger.js";
import type { Step } from "./plan.js";
import type { Host, Town } from "./town.js";

/** Milliseconds in which gateways follow a change, if nothing disturbs them. */
export const BOUND = 4_000;

/** An action in a town. One that does not apply is skipped, so that a plan stays valid when some of its steps are removed. */
type Act = (town: Town, step: Step, host: Host) => void;

/** Every action, and how often it happens. */
export const ACTIONS: Readonly<Record<string, readonly [weight: number, act: Act]>> = {
	connect: [
		14,
		(town, step, host) => {
			const device = town.devices[step.device];
			device?.restart();
			if (device !== undefined) {
				town.connect(device, host);
			}
		},
	],
	leave: [
		6,
		(town, step) => {
			const device = town.devices[step.device];
			const isSilent = step.chance < 0.5;
			town.say(device?.id ?? "", isSilent ? "loses its power" : "disconnects");
			device?.leave(isSilent);
		},
	],
	call: [
		22,
		(town, { n, device, token, amount }, host) => {
			const ms = amount < 0.7 ? 5 : Math.floor(((amount - 0.7) / 0.3) * 4_000);
			call(town, host, { n, device, token, ms });
		},
	],
	report: [8, (town, { n, device }) => town.devices[device]?.report(n)],
	"add token": [3, (town, { token }, host) => addToken(town, host, token)],
	"remove token": [3, (town, { token }, host) => removeToken(town, host, token)],
	rename: [
		6,
		(town, { n, device, amount, chance }, host) => {
			const alias = chance < 0.5 ? `name${Math.floor(amount * 3)}` : `new${n}`;
			const id = town.devices[device]?.id ?? "";
			town.world.at(0, host.process, () => void rename(town, host, id, alias));
		},
	],
	"swap names": [2, swapNames],
	forget: [
		3,
		(town, { device }, host) => town.world.at(0, host.process, () => void forget(town, host, town.devices[device]?.id)),
	],
	"make code": [2, (town, _, host) => makeCode(town, host)],
	"enter code": [4, (town, { other }, host) => enterCode(town, [host, town.hosts[other] as Host])],
	slow: [
		5,
		(town, step, host) => {
			const time = pick(step, [300, 2_000, 5_500, 8_000]);
			town.say(host.name, `NATS is slow: up to ${time} ms`);
			host.path.disturb({ delay: [time / 10, time], state: "up" });
		},
	],
	hold: [
		4,
		(town, _, { name, path }) => {
			town.say(name, "nothing passes between it and NATS");
			path.disturb({ state: "held" });
		},
	],
	cut: [
		4,
		(town, _, { name, path }) => {
			town.say(name, "is cut off from NATS");
			path.disturb({ state: "cut" });
		},
	],
	heal: [
		8,
		(town, _, { name, path }) => {
			town.say(name, "reaches NATS again");
			path.heal();
		},
	],
	freeze: [
		2,
		(town, step, { name, process }) => {
			const time = pick(step, [1_000, 3_000, 12_000]);
			town.say(name, `does not run for ${time} ms`);
			process.stoppedUntil = Math.max(process.stoppedUntil, town.world.now + time);
		},
	],
	kill: [2, (town, _, host) => kill(town, host)],
	"kill at write": [
		2,
		(town, { amount }, host) => {
			host.process.crash = { left: Math.floor(amount * 30), run: () => kill(town, host) };
		},
	],
	stop: [
		2,
		(town, _, host) => {
			town.say(host.name, "gets SIGTERM");
			town.stop(host);
		},
	],
	start: [7, (town, _, host) => town.start(host)],
	"restart NATS": [2, restartNats],
	"fill NATS": [1, (town) => fillNats(town, true)],
	"free NATS": [2, (town) => fillNats(town, false)],
};

function pick({ amount }: Step, items: readonly number[]): number {
	return items[Math.floor(amount * items.length)] as number;
}

/** Executes a step. */
export function act(town: Town, step: Step): void {
	ACTIONS[step.do]?.[1](town, step, town.hosts[step.gateway] as Host);
}

/** A call of a device's tool, by the places of the device and the token. */
interface CallStep {
	readonly n: number;
	readonly device: number;
	readonly token: number;
	readonly ms: number;
}

/** Calls a device's tool at a gateway. */
export function call(town: Town, host: Host, { n, device: place, token: tokenPlace, ms }: CallStep): void {
	const { gateway, incarnation, name, process } = host;
	const device = town.devices[place]?.id;
	const token = town.ledger.tokens.get(tokenPlace);
	if (gateway === undefined || device === undefined || token?.secret === undefined) {
		return;
	}
	const { secret } = token;
	const entry = { n, device, gateway: name, incarnation, token, time: town.world.now, answers: [] as object[] };
	town.ledger.calls.push(entry);
	town.say(name, `client with ${token.name} calls ${device}: ${n}, ${ms} ms`);
	town.world.at(0, process, async () => {
		const alias = gateway.devices.find(({ id }) => id === device)?.alias ?? "unknown";
		const answer = await gateway.call(secret, alias, { n, ms });
		entry.answers.push(answer);
		town.say(name, `answers ${n}: ${JSON.stringify(answer)}`);
	});
}

/** Adds a token if there is none at its place that is valid. */
export function addToken(town: Town, host: Host, place: number): void {
	const { ledger, world, core } = town;
	if (ledger.tokens.get(place)?.state === "valid") {
		return;
	}
	ledger.names += 1;
	const name = `token${place}-${ledger.names}`;
	const device = place % 2 === 0 ? undefined : town.devices[0]?.id;
	const token: Token = { name, device, secret: undefined, state: "unsure", time: world.now };
	ledger.tokens.set(place, token);
	const { losses } = ledger;
	const devices = device !== undefined && { devices: [device] };
	town.command(
		host,
		(store) => new core.TokenStore(store).add({ name, kind: "client", ...devices }),
		`token add ${name}`,
		(secret) => Object.assign(token, { secret, state: losses === ledger.losses ? "valid" : "lost", time: world.now }),
	);
}

function removeToken(town: Town, host: Host, place: number): void {
	const { ledger, world, core } = town;
	const token = ledger.tokens.get(place);
	if (token?.state !== "valid") {
		return;
	}
	// Until the command has an answer.
	token.state = "unsure";
	const { name } = token;
	town.command(
		host,
		(store) => new core.TokenStore(store).remove(name),
		`token remove ${name}`,
		() => ledger.removed.push(Object.assign(token, { state: "removed", time: world.now } as const)),
	);
}

/** Two devices get the names of each other. */
function swapNames(town: Town, step: Step, host: Host): void {
	const places = [step.device, (step.device + 1) % town.devices.length];
	const seen = host.gateway?.devices;
	const [first, second] = places.map((place) => seen?.find(({ id }) => id === town.devices[place]?.id));
	if (first === undefined || second === undefined || first === second) {
		return;
	}
	town.world.at(0, host.process, async () => {
		await rename(town, host, first.id, "between");
		await rename(town, host, second.id, first.alias);
		await rename(town, host, first.id, second.alias);
	});
}

/** Gives a device an alias. Settles when the gateway has answered. */
async function rename(town: Town, { gateway, name }: Host, id: string, alias: string): Promise<void> {
	const { ledger } = town;
	const seen = gateway?.devices.find((device) => device.id === id);
	// What a device is called here already, as the gateway knows, is no change.
	if (gateway === undefined || seen === undefined || seen.alias === alias) {
		return;
	}
	const { losses } = ledger;
	const before = ledger.aliases.get(id);
	const naming: Naming = { alias, state: "pending" };
	ledger.aliases.set(id, naming);
	const wasOpen = ledger.openName(id, 1) > 1;
	const isNewest = (): boolean => ledger.aliases.get(id) === naming;
	try {
		await gateway.running.servers.edit(id, { alias });
		town.say(name, `${id} is named ${alias}`);
		// Of two changes at the same time, either may be the last.
		naming.state = !wasOpen && isNewest() && losses === ledger.losses ? "sure" : "unsure";
		ledger.openName(id, -1);
	} catch (error) {
		town.say(name, `cannot name ${id}: ${(error as Error).message}`);
		naming.state = "unsure";
		if (isUnknown(error)) {
			return;
		}
		ledger.openName(id, -1);
		if (isNewest() && before?.state === "sure") {
			ledger.aliases.set(id, before);
		}
	}
}

async function forget(town: Town, { gateway, name }: Host, id: string | undefined): Promise<void> {
	if (gateway === undefined || id === undefined) {
		return;
	}
	const { ledger } = town;
	ledger.aliases.set(id, { alias: "", state: "unsure" });
	// A name that is given meanwhile may be removed, too.
	ledger.openName(id, 1);
	try {
		const isKnown = await gateway.running.servers.forget(id);
		ledger.openName(id, -1);
		if (isKnown) {
			town.say(name, `has forgotten ${id}`);
		}
	} catch (error) {
		town.say(name, `cannot forget: ${(error as Error).message}`);
		if (!isUnknown(error)) {
			ledger.openName(id, -1);
		}
	}
}

/** Whether a change may be made later. */
function isUnknown(error: unknown): boolean {
	return (error as { readonly code?: string }).code === "unknown";
}

export function makeCode(town: Town, host: Host): void {
	town.command(host, town.core.makeSignInCode, "token code", (code) => town.ledger.codes.push({ code, takenBy: [] }));
}

/** Enters the newest code at these gateways, at the same time. */
export function enterCode(town: Town, hosts: readonly Host[]): void {
	const code = town.ledger.codes.at(-1);
	for (const { gateway, process, name } of code === undefined ? [] : hosts) {
		town.world.at(0, process, async () => {
			try {
				const isTaken = gateway && (await town.core.takeSignInCode(gateway.running.store, code?.code ?? ""));
				town.say(name, `code ${code?.code}: ${isTaken ? "accepted" : "rejected"}`);
				if (isTaken) {
					code?.takenBy.push(name);
				}
			} catch (error) {
				town.say(name, `code ${code?.code}: ${(error as Error).message}`);
			}
		});
	}
}

function restartNats(town: Town, { amount, chance }: Step): void {
	const { nats, ledger, world } = town;
	const isLost = chance < 0.3;
	town.say("NATS", isLost ? "stops, and loses its disk" : "stops");
	nats.stop(isLost);
	if (isLost) {
		ledger.loseEverything();
	}
	world.at(amount * 3_000, undefined, () => {
		town.say("NATS", "starts");
		nats.isUp = true;
	});
}

function fillNats(town: Town, isFull: boolean): void {
	town.nats.isFull = isFull;
	town.say("NATS", isFull ? "is full" : "has room");
}

function kill(town: Town, host: Host): void {
	town.say(host.name, "is killed");
	host.kill();
}
