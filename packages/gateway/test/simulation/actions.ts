import type { SimulatedDevice } from "./device.js";
import type { Token } from "./ledger.js";
import { NORMAL } from "./network.js";
import type { Step } from "./plan.js";
import type { Host, Town } from "./town.js";

/** An action in a town. One that does not apply is skipped, so that a plan stays valid when some of its steps are removed. */
type Act = (town: Town, step: Step, host: Host, device: SimulatedDevice) => void;

/** Every action, and how often it happens. */
export const ACTIONS: Readonly<Record<string, readonly [weight: number, act: Act]>> = {
	connect: [14, (town, _, host, device) => town.connect(device, host)],
	leave: [6, leave],
	call: [22, callSoon],
	report: [8, (_town, { n }, _host, device) => device.report(n)],
	"add token": [3, (town, { token }, host) => addToken(town, host, token)],
	"remove token": [3, removeToken],
	rename: [6, renameSoon],
	forget: [3, (town, _, host, { id }) => town.world.at(0, host.process, () => void forget(town, host, id))],
	"make code": [2, (town, _, host) => makeCode(town, host)],
	"enter code": [4, (town, { other }, host) => enterCode(town, [host, town.hosts[other] as Host])],
	slow: [5, slow],
	hold: [4, (town, _, host) => town.disturb(host, "nothing passes between it and NATS", { state: "held" })],
	cut: [4, (town, _, host) => town.disturb(host, "is cut off from NATS", { state: "cut" })],
	heal: [8, (town, _, host) => town.disturb(host, "reaches NATS again", NORMAL)],
	freeze: [2, freeze],
	kill: [2, (town, _, host) => town.kill(host)],
	"kill at write": [2, killAtWrite],
	stop: [2, (town, _, host) => town.stop(host)],
	start: [7, (town, _, host) => town.start(host)],
	"restart NATS": [2, restartNats],
	"fill NATS": [1, (town) => fillNats(town, true)],
	"free NATS": [2, (town) => fillNats(town, false)],
};

/** Executes a step. */
export function act(town: Town, step: Step): void {
	const [host, device] = [town.hosts[step.gateway] as Host, town.devices[step.device] as SimulatedDevice];
	ACTIONS[step.do]?.[1](town, step, host, device);
}

function leave(town: Town, { chance }: Step, _host: Host, device: SimulatedDevice): void {
	const isSilent = chance < 0.5;
	town.say(device.id, isSilent ? "loses its power" : "disconnects");
	device.leave(isSilent);
}

function slow(town: Town, { amount }: Step, host: Host): void {
	const time = [300, 2_000, 5_500, 8_000][Math.floor(amount * 4)] as number;
	town.disturb(host, `NATS is slow: up to ${time} ms`, { delay: [time / 10, time], state: "up" });
}

function freeze(town: Town, { amount }: Step, { name, process }: Host): void {
	const time = [1_000, 3_000, 12_000][Math.floor(amount * 3)] as number;
	town.say(name, `does not run for ${time} ms`);
	process.stoppedUntil = Math.max(process.stoppedUntil, town.world.now + time);
}

function killAtWrite(town: Town, { amount }: Step, host: Host): void {
	host.process.crash = { left: Math.floor(amount * 30), run: () => town.kill(host) };
}

function callSoon(town: Town, { n, token, amount }: Step, host: Host, { id }: SimulatedDevice): void {
	call(town, host, id, n, token, amount < 0.7 ? 5 : Math.floor(((amount - 0.7) / 0.3) * 4_000));
}

/**
 * Calls a device's tool at a gateway.
 *
 * @param n the call's number
 * @param place of the token
 * @param ms for which the tool works
 */
export function call(town: Town, host: Host, device: string, n: number, place: number, ms: number): void {
	const { gateway, incarnation, name, process } = host;
	const token = town.ledger.tokens.get(place);
	if (gateway === undefined || token?.secret === undefined) {
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
	const { ledger, core } = town;
	if (ledger.tokens.get(place)?.state === "valid") {
		return;
	}
	ledger.names += 1;
	const name = `token${place}-${ledger.names}`;
	const device = place % 2 === 0 ? undefined : town.devices[0]?.id;
	const token: Token = { name, device, secret: undefined, state: "unsure" };
	ledger.tokens.set(place, token);
	const { losses } = ledger;
	const devices = device !== undefined && { devices: [device] };
	town.command(
		host,
		(store) => new core.TokenStore(store).add({ name, kind: "client", ...devices }),
		`token add ${name}`,
		(secret) => Object.assign(token, { secret, state: losses === ledger.losses ? "valid" : "lost" }),
	);
}

function removeToken(town: Town, { token: place }: Step, host: Host): void {
	const { ledger, core } = town;
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
		() => ledger.removed.push(Object.assign(token, { state: "removed" } as const)),
	);
}

function renameSoon(town: Town, { n, amount, chance }: Step, host: Host, { id }: SimulatedDevice): void {
	const alias = chance < 0.5 ? `name${Math.floor(amount * 3)}` : `new${n}`;
	town.world.at(0, host.process, () => void rename(town, host, id, alias));
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
	const naming = { alias, isSure: false };
	ledger.aliases.set(id, naming);
	const wasOpen = ledger.openName(id, 1) > 1;
	const isNewest = (): boolean => ledger.aliases.get(id) === naming;
	try {
		if ((await gateway.running.servers.edit(id, { alias })) === undefined) {
			throw new Error("unknown device");
		}
		town.say(name, `${id} is named ${alias}`);
		// A device whose lists are refused is not stored: it has its name again when it comes back.
		const isOnlyHere =
			gateway.running.servers.find(id) !== undefined && gateway.running.store.get(`device/${id}`) === undefined;
		// Of two changes at the same time, either may be the last.
		naming.isSure = !isOnlyHere && !wasOpen && isNewest() && losses === ledger.losses;
		ledger.openName(id, -1);
	} catch (error) {
		town.say(name, `cannot name ${id}: ${(error as Error).message}`);
		if (isUnknown(error)) {
			return;
		}
		ledger.openName(id, -1);
		if (isNewest() && before?.isSure && losses === ledger.losses) {
			ledger.aliases.set(id, before);
		}
	}
}

async function forget({ ledger, say }: Town, { gateway, name }: Host, id: string): Promise<void> {
	if (gateway === undefined) {
		return;
	}
	ledger.aliases.set(id, { alias: "", isSure: false });
	// A name that is given meanwhile may be removed, too.
	ledger.openName(id, 1);
	try {
		const isKnown = await gateway.running.servers.forget(id);
		ledger.openName(id, -1);
		say(name, isKnown ? `has forgotten ${id}` : `does not know ${id}`);
	} catch (error) {
		say(name, `cannot forget: ${(error as Error).message}`);
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
export function enterCode({ world, core, ledger, say }: Town, hosts: readonly Host[]): void {
	const newest = ledger.codes.at(-1);
	for (const { gateway, process, name } of newest === undefined ? [] : hosts) {
		world.at(0, process, async () => {
			try {
				const isTaken = gateway && (await core.takeSignInCode(gateway.running.store, newest?.code ?? ""));
				say(name, `code ${newest?.code}: ${isTaken ? "accepted" : "rejected"}`);
				if (isTaken) {
					newest?.takenBy.push(name);
				}
			} catch (error) {
				say(name, `code ${newest?.code}: ${(error as Error).message}`);
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
