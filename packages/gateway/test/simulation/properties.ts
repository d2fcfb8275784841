import type { Call, Reported, Token } from "./ledger.js";
import type { Host, Town } from "./town.js";

/** Milliseconds in which a call is answered: it waits for its device, then for the answer. */
const ANSWER_TIME = 40_000;

/** Timers of an idle gateway. */
const MAX_TIMERS = 60;

/** Subscriptions of a gateway: its subjects, a watch of each bucket, and the stream of events. */
const MAX_SUBSCRIPTIONS = 8;

/** A property that does not hold. */
export class Violation extends Error {
	constructor(property: string, details: string) {
		super(`${property}: ${details}`);
	}
}

/** Which property a failure is about. */
export function propertyOf(failure: Error | undefined): string | undefined {
	return failure?.message.split(": ")[0];
}

/** Properties that hold at any time. */
export function checkAlways(town: Town): void {
	if (town.world.failure !== undefined) {
		throw town.world.failure;
	}
	for (const call of town.ledger.calls) {
		checkCall(town, call);
	}
	for (const { code, takenBy } of town.ledger.codes) {
		expect(takenBy.length <= 1, "a code is valid once", `${code} was accepted by ${takenBy.join(" and ")}`);
	}
	for (const [, token] of town.ledger.tokens) {
		checkScope(town, token);
	}
}

function expect(isTrue: boolean, property: string, details: string): void {
	if (!isTrue) {
		throw new Violation(property, details);
	}
}

function checkCall(town: Town, call: Call): void {
	const { n, answers, device, token, gateway } = call;
	const times = town.devices.reduce((sum, { done }) => sum + (done.get(n) ?? 0), 0);
	const [answer] = answers;
	expect(times <= 1, "a call is carried out at most once", `${n} was carried out ${times} times`);
	expect(answers.length <= 1, "a call is answered once", `${n} has ${answers.length} answers`);
	if (answer === undefined) {
		return;
	}
	if (answer.text !== undefined) {
		expect(answer.text === `done ${n}`, "an answer is that of its call", `${n} got ${answer.text}`);
		expect(times === 1, "what is answered was carried out", `${n} at ${gateway} was not`);
	}
	if (answer.error?.includes("Nothing was sent") || answer.error === "401" || answer.error === "unknown-tool") {
		expect(times === 0, "nothing was sent, if an error says so", `${n} was carried out: ${answer.error}`);
	}
	const isAllowed = token.device === undefined || token.device === device;
	expect(isAllowed || times === 0, "a client reaches only what its token allows", `${n} reached ${device}`);
}

function checkScope(town: Town, { name, secret, device }: Token): void {
	for (const { gateway, name: host } of town.hosts) {
		const seen = device === undefined || secret === undefined ? [] : (gateway?.seenBy(secret) ?? []);
		const foreign = seen.filter((id) => id !== device);
		expect(foreign.length === 0, "a client sees only what its token allows", `${name} at ${host}: ${foreign}`);
	}
}

/** Properties that hold after a while without faults. */
export function checkQuiet(town: Town): void {
	checkAlways(town);
	const { now } = town.world;
	for (const { n, answers, time, gateway, incarnation } of town.ledger.calls) {
		const isOver = town.runs(gateway, incarnation) && now - time > ANSWER_TIME;
		expect(!isOver || answers.length === 1, "a call is answered once", `${n} at ${gateway} was not`);
	}
	for (const host of town.hosts) {
		const { gateway, name, process } = host;
		const { connected, gateways: members = [] } = gateway?.status ?? {};
		expect(connected === true, "gateways find their cluster again", `${name}: ${host.state}`);
		expect(members.length === town.hosts.length, "gateways know each other", `${name} knows ${members.length}`);
		expect(members[0]?.calls === 0, "nothing grows", `${name} has calls in progress`);
		expect(process.timers < MAX_TIMERS, "nothing grows", `${name} has ${process.timers} timers`);
		expect(host.path.links.size === 1, "nothing grows", `${name} has connections to NATS`);
	}
	const most = town.nats.subscriptions;
	expect(most <= MAX_SUBSCRIPTIONS, "nothing grows", `a gateway has ${most} subscriptions of NATS`);
	checkLogs(town);
	checkViews(town);
	checkTokens(town);
	checkAliases(town);
	checkEvents(town);
}

/** Whether every gateway runs, every call has its answer, and everything that {@link checkQuiet} checks holds. */
export function isQuiet(town: Town): boolean {
	const isCalm = town.hosts.every((host) => host.isCalm);
	const isOpen = ({ answers, gateway, incarnation }: Call): boolean =>
		answers.length === 0 && town.runs(gateway, incarnation);
	try {
		checkQuiet(town);
		return isCalm && !town.ledger.calls.some(isOpen);
	} catch (error) {
		if (error instanceof Violation) {
			return false;
		}
		throw error;
	}
}

/** A gateway does not fill its log while NATS is slow. */
function checkLogs(town: Town): void {
	for (const { name } of town.hosts) {
		const lines = town.story.filter((line) => line.slice(12).startsWith(name) && / log: .*timeout$/.test(line));
		const times = lines.map(Number.parseFloat);
		const isFull = times.some((time, i) => (times[i + 9] ?? Number.POSITIVE_INFINITY) - time < 10);
		expect(!isFull, "nothing grows", `the log of ${name}, by timeouts`);
	}
}

/** Every gateway shows the true state of the devices that are online, and agrees with the others about the rest. */
function checkViews(town: Town): void {
	const views = town.hosts.map(({ name, gateway }) => ({ name, devices: gateway?.devices ?? [] }));
	for (const device of town.devices) {
		const at = town.hosts.find(({ name }) => device.isWith(name))?.name;
		for (const { name, devices } of views) {
			const seen = devices.find(({ id }) => id === device.id);
			const where = seen?.online ? (seen.connection?.identity.gateway ?? name) : undefined;
			expect(where === at, "views converge", `${name} shows ${device.id} at ${where}, but it is at ${at}`);
		}
	}
	const [first, ...others] = views.map(({ name, devices }) => {
		return { name, text: String(devices.map(({ id, alias, tags }) => `${id} ${alias} ${tags}`).sort()) };
	});
	for (const { name, text } of others) {
		expect(text === first?.text, "views converge", `${first?.name} shows ${first?.text}; ${name} shows ${text}`);
	}
	const aliases = views[0]?.devices.map(({ alias }) => alias) ?? [];
	expect(new Set(aliases).size === aliases.length, "an alias names one device", `${aliases}`);
}

function checkTokens(town: Town): void {
	for (const { name, state, secret = "" } of [...town.ledger.tokens.values(), ...town.ledger.removed]) {
		for (const host of town.hosts) {
			const isAdmitted = host.gateway?.admits(secret) === true;
			if (state === "valid") {
				expect(isAdmitted, "what was stored stays stored", `${name} is not valid at ${host.name}`);
			} else if (state === "removed") {
				expect(!isAdmitted, "a removed token is out everywhere", `${name} is valid at ${host.name}`);
			}
		}
	}
}

function checkAliases(town: Town): void {
	for (const [id, { alias, isSure }] of town.ledger.aliases) {
		for (const { gateway, name } of isSure ? town.hosts : []) {
			const seen = gateway?.devices.find((device) => device.id === id);
			expect(seen?.alias === alias, "what was stored stays stored", `${name} names ${id} ${seen?.alias}, not ${alias}`);
		}
	}
}

/** Events are in every gateway's log, once, and in the order in which a device has reported them to a gateway. */
function checkEvents(town: Town): void {
	const reported = new Map(town.ledger.events.map((event) => [event.n, event]));
	const logs = town.hosts.map(({ gateway }) =>
		(gateway?.events ?? []).flatMap(({ name, data }) =>
			name === "device.event" ? (data.data as { readonly n: number }).n : [],
		),
	);
	for (const [i, log] of logs.entries()) {
		const { name } = town.hosts[i] as Host;
		const latest = new Map<string, number>();
		for (const n of log) {
			const { device, gateway, incarnation } = reported.get(n) as Reported;
			const source = `${device} ${gateway} ${incarnation}`;
			expect((latest.get(source) ?? -1) < n, "events are stored once, in their order", `${n} at ${name}: ${log}`);
			latest.set(source, n);
		}
		for (const { n, gateway, incarnation, isSure } of reported.values()) {
			const isDue = isSure && town.runs(gateway, incarnation);
			expect(!isDue || log.includes(n), "an event that was accepted arrives", `${n} of ${gateway} is not at ${name}`);
		}
		expect(String(log) === String(logs[0]), "events are the same everywhere", `${logs.join(" | ")}`);
	}
}
