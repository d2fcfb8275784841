import { createHistogram } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { connectOverHttp, type Era } from "../../e2e/clients.js";
import { knownDevices, type RunningGateway, untilKnown } from "../../e2e/gateway-process.js";
import { Program, typeScript } from "../../host-test/support/program.js";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import {
	AT_THE_SAME_TIME,
	BUSY_CALLS,
	CALLS,
	CALLS_PER_TURN,
	describeSamples,
	ERAS,
	inParallel,
	Lanes,
	timed,
} from "./lanes.js";
import { LISTING_TOKEN, startBoundGateway, startLightDevices } from "./light-fleet.js";
import { openPlainClient, type PlainClient } from "./plain-client.js";
import type { Report } from "./report.js";

const SDK_SERVER = "SDK v2 server";
const TOOL = "self.audio_speaker.set_volume";
/** Size of the fleet that also has a client whose token lists the devices. */
const LISTED = 1_000;
/** The line that the programs to compare with print when they listen. */
const LISTENING = /listening on (\d+)/;
const isListening = (output: string): boolean => LISTENING.test(output);

/** Gateways with that many devices beside the SDK's own server and a bare relay, in one run: what a call costs the program that serves it. */
export async function benchCalls({ say, row, header }: Report, sizes: readonly number[]): Promise<void> {
	const lanes = new Lanes();
	try {
		await openDirectServer(lanes);
		await openBareRelay(lanes);
		for (const size of sizes) {
			await openFleet(lanes, size);
		}
		await lanes.measure();
		say("## What a call costs the program that serves it");
		say();
		header("", ...ERAS.flatMap((era) => [`${era}: CPU`, "p50 / p99", `CPU, ${AT_THE_SAME_TIME} at a time`]));
		for (const path of lanes.paths) {
			row(path, ...ERAS.flatMap((era) => cellsOf(lanes, path, era)));
		}
		say();
		say(`Milliseconds; ${CALLS} calls each, one after the other, in turns of ${CALLS_PER_TURN}, then ${BUSY_CALLS}, ${AT_THE_SAME_TIME} at a time. CPU is
that of the whole process, which has served a fifth as many calls before. The devices are sockets in one process that answer at once; each call is to another one.
Each device and each client of the gateway has its own token. The bare relay only parses and writes
JSON: it checks nothing, and has one device.`);
	} finally {
		await lanes.close();
	}
}

function cellsOf(lanes: Lanes, path: string, era: Era): string[] {
	const [lane, server] = [lanes.find(path, era), lanes.find(SDK_SERVER, era)];
	if (lane === undefined || server === undefined) {
		return ["–", "–", "–"];
	}
	const compare = (cpu: number, other: number): string => `${cpu.toFixed(2)} (${(cpu / other).toFixed(2)}x)`;
	return [
		compare(lane.cpuTime / CALLS, server.cpuTime / CALLS),
		describeSamples(lane.samples),
		compare(lane.busyCpuTime / BUSY_CALLS, server.busyCpuTime / BUSY_CALLS),
	];
}

async function openDirectServer(lanes: Lanes): Promise<void> {
	const program = await Program.start(typeScript("tools/bench/direct-server.ts"), isListening);
	lanes.onClose(() => program.stop());
	const base = `http://127.0.0.1:${program.said(LISTENING)}`;
	for (const era of ERAS) {
		const client = await openPlainClient(`${base}/${era === "2025-11-25" ? "session" : "stateless"}`, era);
		lanes.onClose(() => client.close());
		lanes.add(SDK_SERVER, era, () => client.setVolume(TOOL), program);
	}
}

/** It has no revision of its own: it forwards what the device has, which is the one with sessions. */
async function openBareRelay(lanes: Lanes): Promise<void> {
	const relay = await Program.start(typeScript("tools/bench/bare-relay.ts"), isListening);
	lanes.onClose(() => relay.stop());
	const address = `127.0.0.1:${relay.said(LISTENING)}`;
	const devices = await startLightDevices(`ws://${address}`, 1);
	lanes.onClose(() => devices.stop());
	await until(() => devices.output.includes("connected"), "the device is connected");
	const client = await openPlainClient(`http://${address}/mcp`, "2025-11-25");
	lanes.onClose(() => client.close());
	lanes.add("bare relay", "2025-11-25", () => client.setVolume(TOOL), relay);
}

async function openFleet(lanes: Lanes, size: number): Promise<void> {
	const gateway = await startBoundGateway(temporaryFolder(), size);
	lanes.onClose(() => gateway.program.stop());
	const devices = await startLightDevices(gateway.deviceUrl, size);
	lanes.onClose(() => devices.stop());
	await untilKnown(gateway, size);
	const aliases = (await knownDevices(gateway)).map(({ alias }) => alias);
	const path = `gateway, ${size === 1 ? "1 device" : `${size} devices`}`;
	const tokens = { [path]: gateway.token, ...(size === LISTED && { [`${path}, listed in the token`]: LISTING_TOKEN }) };
	for (const [name, token] of Object.entries(tokens)) {
		for (const era of ERAS) {
			const client = await openPlainClient(`${gateway.base}/mcp`, era, token);
			lanes.onClose(() => client.close());
			const random = (): Promise<void> =>
				client.setVolume(`${aliases[Math.floor(Math.random() * size)]}__self_audio_speaker_set_volume`);
			lanes.add(name, era, random, gateway.program);
		}
	}
}

/** How much is measured. */
interface Amount {
	/** Calls in each line of the table. */
	readonly calls: number;
	/** Milliseconds for memory to settle: what connecting needed is given back. */
	readonly settle: number;
	/** Milliseconds without calls, after which V8 has given back what they took. */
	readonly rest: number;
}

const ALL: Amount = { calls: 5_000, settle: 5_000, rest: 60_000 };

type Fleet = Awaited<ReturnType<typeof measureFleet>>;

/** A gateway with that many devices: what each costs it, and how long calls to them take. */
export async function benchFleets(
	{ say, row, header }: Report,
	sizes: readonly number[],
	amount: Amount = ALL,
): Promise<void> {
	const fleets: Fleet[] = [];
	for (const size of sizes) {
		fleets.push(await measureFleet(size, amount));
	}
	say("## Many devices");
	say();
	header("devices connected", ...fleets.map(({ size }) => String(size)));
	const line = (name: string, value: (fleet: Fleet) => string): void => row(name, ...fleets.map(value));
	line("all known after being switched on together", ({ known }) => `${(known / 1000).toFixed(1)} s`);
	line("gateway's memory without devices", ({ memory: [alone] }) => megabytes(alone));
	line("… with them", ({ memory }) => megabytes(memory[1]));
	line("… a minute after the calls below", ({ memory }) => megabytes(memory[2]));
	line("**memory a device**", ({ memory: [alone, connected], size }) => kilobytes((connected - alone) / size));
	line("… a minute after the calls below", ({ memory: [alone, , used], size }) => kilobytes((used - alone) / size));
	line("a client reads the whole list", ({ tools, listed }) => `${tools} tools, ${(listed / 1000).toFixed(1)} s`);
	line("calls to random devices, one at a time: p50 / p99", ({ one }) => `${describeSamples(one)} ms`);
	line(`… ${AT_THE_SAME_TIME} at a time`, ({ many }) => `${describeSamples(many)} ms`);
	line("… a second", ({ callsPerSecond }) => callsPerSecond.toFixed(0));
	say();
	say(`Each device and each client has its own token.
Memory is what is resident (RSS) of the gateway's process. V8 gives back what calls took when it is idle, and not always within that minute.
The devices are sockets in one process that answer at once, not XS, with the firmware's tools. Clients do not see
the user-only ones. Half of the calls are of a client of 2025-11-25, half of one of
2026-07-28, ${amount.calls} in each line. Clients, gateway and devices share the machine's cores.`);
}

/** Measures milliseconds, and bytes of the gateway's process: without devices, with all of them, and after the calls. */
async function measureFleet(size: number, { calls: count, settle, rest }: Amount) {
	const gateway = await startBoundGateway(temporaryFolder(), size, "--max-devices", String(size));
	let devices: Program | undefined;
	try {
		await delay(settle);
		const alone = gateway.program.residentBytes;
		devices = await startLightDevices(gateway.deviceUrl, size);
		const start = performance.now();
		await untilKnown(gateway, size);
		const known = performance.now() - start;
		await delay(settle);
		const connected = gateway.program.residentBytes;
		const calls = await measureCalls(gateway, count);
		await delay(rest);
		return { size, known, memory: [alone, connected, gateway.program.residentBytes] as const, ...calls };
	} finally {
		await devices?.stop();
		await gateway.program.stop();
	}
}

async function measureCalls(gateway: RunningGateway, count: number) {
	const url = `${gateway.base}/mcp?catalog=full`;
	const list = await connectOverHttp(url, "2025-11-25", gateway.token);
	const listing = performance.now();
	const { tools } = await list.listTools();
	const listed = performance.now() - listing;
	await list.close();
	const clients = await Promise.all(ERAS.map((era) => openPlainClient(url, era, gateway.token)));
	const aliases = (await knownDevices(gateway)).map(({ alias }) => alias);
	const random = async (at: number): Promise<void> => {
		const alias = aliases[Math.floor(Math.random() * aliases.length)];
		await (clients[at % clients.length] as PlainClient).setVolume(`${alias}__self_audio_speaker_set_volume`);
	};
	const [one, many] = [createHistogram(), createHistogram()];
	await inParallel(count / 10, 1, random);
	await inParallel(count, 1, (at) => timed(one, () => random(at)));
	const start = performance.now();
	await inParallel(count, AT_THE_SAME_TIME, (at) => timed(many, () => random(at)));
	const callsPerSecond = (count * 1000) / (performance.now() - start);
	for (const client of clients) {
		client.close();
	}
	return { listed, tools: tools.length, one, many, callsPerSecond };
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
const kilobytes = (bytes: number): string => `${(bytes / 2 ** 10).toFixed(1)} KB`;
