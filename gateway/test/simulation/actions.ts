import type { Host } from "./host.js";
import type { Naming, Token } from "./ledger.js";
import { NORMAL } from "./network.js";
import type { Action, Disturbance } from "./plan.js";
import type { Town } from "./town.js";

/** Milliseconds in which gateways follow a change, if nothing disturbs them. */
export const BOUND = 4_000;

/** Executes a step. Steps that do not apply are skipped, so that a plan stays valid when some of its steps are removed. */
export function act(town: Town, action: Action): void {
	switch (action.do) {
		case "connect":
		case "leave":
			actOnDevice(town, action);
			break;
		case "call":
			call(town, action);
			break;
		case "report":
			town.devices[action.device]?.report(action.n);
			break;
		case "add token":
			addToken(town, hostOf(town, action), action.token);
			break;
		case "remove token":
			removeToken(town, hostOf(town, action), action.token);
			break;
		case "rename":
			rename(town, action);
			break;
		case "swap names":
			swapNames(town, action);
			break;
		case "forget":
			forget(town, action);
			break;
		case "make code":
			makeCode(town, hostOf(town, action));
			break;
		case "enter code":
			enterCode(town, action.gateways);
			break;
		case "restart NATS":
			restartNats(town, action);
			break;
		case "fill NATS":
		case "free NATS":
			town.nats.isFull = action.do === "fill NATS";
			town.say("NATS", town.nats.isFull ? "is full" : "has room");
			break;
		default:
			disturb(town, hostOf(town, action), action);
			break;
	}
}

function hostOf(town: Town, { gateway }: { readonly gateway: number }): Host {
	return town.hosts[gateway] as Host;
}

function actOnDevice(town: Town, action: Action & { do: "connect" | "leave" }): void {
	const device = town.devices[action.device];
	if (device === undefined) {
		return;
	}
	if (action.do === "leave") {
		town.say(device.id, action.isSilent ? "loses its power" : "disconnects");
		device.leave(action.isSilent);
	} else {
		device.restart();
		town.connect(device, hostOf(town, action));
	}
}

/** Calls a device's tool at a gateway. */
export function call(town: Town, action: Omit<Action & { do: "call" }, "do">): void {
	const host = hostOf(town, action);
	const { gateway } = host;
	const device = town.devices[action.device];
	const token = town.ledger.tokens.get(action.token);
	if (gateway === undefined || device === undefined || token?.secret === undefined) {
		return;
	}
	const { secret } = token;
	const { n, ms } = action;
	const { incarnation, name } = host;
	const entry = {
		n,
		device: device.id,
		gateway: name,
		incarnation,
		token,
		time: town.world.now,
		answers: [] as object[],
	};
	town.ledger.calls.push(entry);
	town.say(name, `client with ${token.name} calls ${device.id}: ${n}, ${ms} ms`);
	town.world.at(0, host.process, () => {
		const alias = gateway.devices.find(({ id }) => id === device.id)?.alias ?? "unknown";
		void gateway.call(secret, alias, { n, ms }).then((answer) => {
			entry.answers.push(answer);
			town.say(name, `answers ${n}: ${JSON.stringify(answer)}`);
		});
	});
}

/** Adds a token if there is none at its place that is valid. */
export function addToken(town: Town, host: Host, place: number): void {
	const { ledger, world } = town;
	if (ledger.tokens.get(place)?.state === "valid") {
		return;
	}
	ledger.names += 1;
	const name = `token${place}-${ledger.names}`;
	const device = place % 2 === 0 ? undefined : town.devices[0]?.id;
	const token: Token = { name, device, secret: undefined, state: "unsure", time: world.now };
	ledger.tokens.set(place, token);
	const { losses } = ledger;
	town.command(host, async (command) => {
		try {
			token.secret = await command.addToken(name, device);
			token.state = losses === ledger.losses ? "valid" : "lost";
			token.time = world.now;
			town.say(host.name, `token add ${name}: done`);
		} catch (error) {
			town.say(host.name, `token add ${name}: ${(error as Error).message}`);
		}
	});
}

function removeToken(town: Town, host: Host, place: number): void {
	const token = town.ledger.tokens.get(place);
	if (token?.state !== "valid") {
		return;
	}
	// Until the command has an answer.
	token.state = "unsure";
	town.command(host, async (command) => {
		try {
			await command.removeToken(token.name);
			Object.assign(token, { state: "removed", time: town.world.now });
			town.ledger.removed.push(token);
			town.say(host.name, `token remove ${token.name}: done`);
		} catch (error) {
			town.say(host.name, `token remove ${token.name}: ${(error as Error).message}`);
		}
	});
}

function rename(town: Town, { gateway, device, alias }: Action & { do: "rename" }): void {
	const host = town.hosts[gateway] as Host;
	const id = town.devices[device]?.id ?? "";
	town.world.at(0, host.process, () => void give(town, host, id, alias));
}

/** Two devices get the names of each other. */
function swapNames(town: Town, { gateway, devices }: Action & { do: "swap names" }): void {
	const host = town.hosts[gateway] as Host;
	const [first, second] = devices.map((place) =>
		host.gateway?.devices.find(({ id }) => id === town.devices[place]?.id),
	);
	if (first === undefined || second === undefined || first === second) {
		return;
	}
	town.world.at(0, host.process, async () => {
		await give(town, host, first.id, "between");
		await give(town, host, second.id, first.alias);
		await give(town, host, first.id, second.alias);
	});
}

/** Gives a device an alias. Settles when the gateway has answered. */
async function give(town: Town, host: Host, id: string, alias: string): Promise<void> {
	const { gateway } = host;
	const seen = gateway?.devices.find((device) => device.id === id);
	// What a device is called here already, as the gateway knows, is no change.
	if (gateway === undefined || seen === undefined || seen.alias === alias) {
		return;
	}
	const { aliases, losses, openNames } = town.ledger;
	const before = aliases.get(id);
	const naming: Naming = { alias, state: "pending" };
	aliases.set(id, naming);
	const open = openNames.get(id) ?? 0;
	openNames.set(id, open + 1);
	try {
		await gateway.edit(id, { alias });
		town.say(host.name, `${id} is named ${alias}`);
		// Of two changes at the same time, either may be the last.
		const isOnly = open === 0 && aliases.get(id) === naming && losses === town.ledger.losses;
		naming.state = isOnly ? "sure" : "unsure";
		openNames.set(id, (openNames.get(id) ?? 1) - 1);
	} catch (error) {
		town.say(host.name, `cannot name ${id}: ${(error as Error).message}`);
		naming.state = "unsure";
		if ((error as { code?: string }).code !== "unknown") {
			openNames.set(id, (openNames.get(id) ?? 1) - 1);
		}
		if (aliases.get(id) === naming && (error as { code?: string }).code !== "unknown" && before?.state === "sure") {
			aliases.set(id, before);
		}
	}
}

function forget(town: Town, action: Action & { do: "forget" }): void {
	const host = hostOf(town, action);
	const device = town.devices[action.device];
	const { gateway } = host;
	if (gateway === undefined || device === undefined) {
		return;
	}
	const { aliases, openNames } = town.ledger;
	const { id } = device;
	aliases.set(id, { alias: "", state: "unsure" });
	// A name that is given meanwhile may be removed, too.
	openNames.set(id, (openNames.get(id) ?? 0) + 1);
	town.world.at(0, host.process, async () => {
		try {
			const isKnown = await gateway.forget(id);
			openNames.set(id, (openNames.get(id) ?? 1) - 1);
			if (isKnown) {
				town.say(host.name, `has forgotten ${id}`);
			}
		} catch (error) {
			town.say(host.name, `cannot forget: ${(error as Error).message}`);
			if ((error as { code?: string }).code !== "unknown") {
				openNames.set(id, (openNames.get(id) ?? 1) - 1);
			}
		}
	});
}

export function makeCode(town: Town, host: Host): void {
	town.command(host, async (command) => {
		try {
			const code = await command.makeCode();
			town.ledger.codes.push({ code, takenBy: [] });
			town.say(host.name, `token code: ${code}`);
		} catch (error) {
			town.say(host.name, `token code: ${(error as Error).message}`);
		}
	});
}

/** Enters the newest code at these gateways, at the same time. */
export function enterCode(town: Town, gateways: readonly number[]): void {
	const code = town.ledger.codes.at(-1);
	for (const place of code === undefined ? [] : gateways) {
		const { gateway, process, name } = town.hosts[place] as Host;
		town.world.at(0, process, () => {
			gateway?.takeSignInCode(code?.code ?? "").then(
				(isTaken) => {
					town.say(name, `code ${code?.code}: ${isTaken ? "accepted" : "rejected"}`);
					if (isTaken) {
						code?.takenBy.push(name);
					}
				},
				(error: Error) => town.say(name, `code ${code?.code}: ${error.message}`),
			);
		});
	}
}

function restartNats(town: Town, { time, isLost }: Action & { do: "restart NATS" }): void {
	town.say("NATS", isLost ? "stops, and loses its disk" : "stops");
	town.stopNats();
	town.nats.restart();
	if (isLost) {
		town.nats.loseEverything();
		town.ledger.loseEverything();
	}
	town.world.at(time, undefined, () => {
		town.say("NATS", "starts");
		town.startNats();
	});
}

function kill(town: Town, host: Host): void {
	town.say(host.name, "is killed");
	town.kill(host);
}

function disturb(town: Town, host: Host, action: Disturbance): void {
	const path = town.pathOf(host);
	switch (action.do) {
		case "slow":
			town.say(host.name, `NATS is slow: up to ${action.time} ms`);
			town.network.disturb(path, { delay: [action.time / 10, action.time], state: "up" });
			break;
		case "hold":
			town.say(host.name, "nothing passes between it and NATS");
			town.network.disturb(path, { state: "held" });
			break;
		case "cut":
			town.say(host.name, "is cut off from NATS");
			town.network.disturb(path, { state: "cut" });
			break;
		case "heal":
			town.say(host.name, "reaches NATS again");
			town.network.disturb(path, { delay: NORMAL, state: "up" });
			break;
		case "freeze":
			town.say(host.name, `does not run for ${action.time} ms`);
			host.process.stoppedUntil = Math.max(host.process.stoppedUntil, town.world.now + action.time);
			break;
		case "kill":
			kill(town, host);
			break;
		case "kill at write":
			host.process.crash = { left: action.messages, run: () => kill(town, host) };
			break;
		case "stop":
			town.say(host.name, "gets SIGTERM");
			town.stop(host);
			break;
		case "start":
			town.start(host);
			break;
	}
}
