import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { NatsServer } from "../../gateway/test/cluster/support/nats-server.js";
import { connectOverHttp } from "../../host-test/e2e/clients.js";
import {
	knownDevices,
	metricsOf,
	type RunningGateway,
	startGateway,
	untilKnown,
} from "../../host-test/e2e/gateway-process.js";
import { ChaosFleet } from "../../host-test/soak/chaos-fleet.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import type { Report } from "../report.js";
import { AT_THE_SAME_TIME, inParallel } from "./lanes.js";
import { startLightDevices } from "./light-fleet.js";
import { PlainClient } from "./plain-client.js";
import { Samples } from "./samples.js";

/** The machine's load changes while all lines are measured, so they take turns. */
const TURNS = 10;

/** How much is measured. */
interface Amount {
	/** Devices, with equal parts at the gateways. */
	readonly devices: number;
	/** Calls in each line of the table. */
	readonly calls: number;
	/** Milliseconds for memory to settle. */
	readonly settle: number;
	/** Devices of the cluster whose gateway is killed: they share this process with the clients. */
	readonly killed: number;
}

const ALL: Amount = { devices: 10_000, calls: 3_000, settle: 5_000, killed: 3_000 };

/** Clean-up of a measurement, last first. */
type Closers = (() => Promise<unknown> | unknown)[];

/** Gateways with their devices. */
interface Fleet {
	readonly gateways: readonly RunningGateway[];
	/** Of the devices of the first gateway, and of the others. */
	readonly local: readonly string[];
	readonly remote: readonly string[];
	/** Milliseconds from the first connection until every gateway knows all devices. */
	readonly known: number;
	/** Bytes a device, in each gateway. */
	readonly memory: number;
}

/** Calls through the first gateway of a fleet. */
interface Lane {
	readonly fleet: Fleet;
	readonly aliases: readonly string[];
	readonly clients: readonly PlainClient[];
	readonly one: Samples;
	readonly many: Samples;
	/** Milliseconds in which calls were made at the same time. */
	busy: number;
	/** Milliseconds of CPU of all gateways for calls one at a time. */
	cpu: number;
}

interface Killed {
	readonly answered: number;
	/** Answered with the note that they may have been carried out. */
	readonly lost: number;
	/** Answered with another error: the device was offline. */
	readonly offline: number;
	readonly doubled: number;
	/** Milliseconds until the others have every device online. */
	readonly back: number;
}

/** Three gateways on NATS beside one alone: calls, memory, and a gateway that is killed under load. */
export async function benchCluster({ say, row, header }: Report, amount: Amount = ALL): Promise<void> {
	const { devices, calls } = amount;
	const { fleets, lanes } = await closing((closers) => measureCalls(amount, closers));
	const killed = await closing((closers) => measureKill(amount.killed, closers));
	say("## Several gateways");
	say();
	header(`${devices} devices`, "one gateway alone", "one of three: its own devices", "… devices of the others");
	row("calls one at a time: p50 / p99", ...lanes.map(({ one }) => `${one.describe(0)} ms`));
	row("… CPU of all gateways", ...lanes.map(({ cpu, one }) => `${(cpu / one.count).toFixed(2)} ms`));
	row(`… ${AT_THE_SAME_TIME} at a time`, ...lanes.map(({ many }) => `${many.describe(0)} ms`));
	row("… a second", ...lanes.map(({ busy, many }) => ((many.count * 1000) / busy).toFixed(0)));
	row("all known to all after being switched on together", ...fleets.map(({ known }) => seconds(known)), "");
	row("memory a device, in each gateway", ...fleets.map(({ memory }) => `${(memory / 1024).toFixed(1)} KB`), "");
	say();
	const { answered, lost, offline, doubled, back } = killed;
	say(
		`\`kill -9\` of one of three gateways with ${amount.killed} devices, under ${AT_THE_SAME_TIME} calls at a time: ${answered} calls were answered.`,
	);
	say(
		`${lost} may have been carried out, ${offline} found the device offline, ${doubled} were carried out twice. All devices were back at the two`,
	);
	say(`others after ${seconds(back)}; each device tries again within 0.4 s.`);
	say();
	say(
		`${calls} calls in each line, in turns of ${calls / TURNS}, half of a client of 2025-11-25, half of one of 2026-07-28. NATS, the four gateways, devices`,
	);
	say(
		"and clients share the machine's cores. Devices are as in the tables before. Memory is what is resident (RSS) beyond a gateway without devices.",
	);
}

async function measureCalls(amount: Amount, closers: Closers): Promise<{ fleets: Fleet[]; lanes: Lane[] }> {
	const [alone, cluster] = [await openFleet(1, amount, closers), await openFleet(3, amount, closers)];
	const lanes = [
		await openLane(alone, alone.local, closers),
		await openLane(cluster, cluster.local, closers),
		await openLane(cluster, cluster.remote, closers),
	];
	const count = amount.calls / TURNS;
	for (const lane of lanes) {
		await inParallel(count, AT_THE_SAME_TIME, (at) => call(lane, at));
	}
	for (let turn = 0; turn < TURNS; turn += 1) {
		for (const lane of lanes) {
			const cpu = cpuOf(lane.fleet);
			await inParallel(count, 1, (at) => lane.one.time(() => call(lane, at)));
			lane.cpu += cpuOf(lane.fleet) - cpu;
			const begin = performance.now();
			await inParallel(count, AT_THE_SAME_TIME, (at) => lane.many.time(() => call(lane, at)));
			lane.busy += performance.now() - begin;
		}
	}
	return { fleets: [alone, cluster], lanes };
}

async function openFleet(size: number, { devices, settle }: Amount, closers: Closers): Promise<Fleet> {
	const gateways = await startGateways(size, closers);
	await delay(settle);
	const before = gateways.map(({ program }) => program.residentBytes);
	const urls = gateways.map(({ deviceUrl }) => deviceUrl).join(",");
	const program = await startLightDevices(urls, devices);
	const begin = performance.now();
	closers.push(() => program.stop());
	await Promise.all(gateways.map((gateway) => untilKnown(gateway, devices)));
	const known = performance.now() - begin;
	await delay(settle);
	const more = gateways.map((gateway, at) => gateway.program.residentBytes - (before[at] as number));
	const memory = more.reduce((sum, each) => sum + each, 0) / size / devices;
	const all = await knownDevices(gateways[0] as RunningGateway);
	// Devices take turns: see light-devices.ts.
	const isLocal = ({ id }: { id: string }): boolean =>
		Number.parseInt(id.replaceAll(":", "").slice(6), 16) % size === 0;
	const aliasesOf = (list: typeof all): string[] => list.map(({ alias }) => alias);
	const [local, remote] = [all.filter(isLocal), all.filter((each) => !isLocal(each))].map(aliasesOf) as [
		string[],
		string[],
	];
	return { gateways, local, remote, known, memory };
}

async function openLane(fleet: Fleet, aliases: readonly string[], closers: Closers): Promise<Lane> {
	const [{ base }] = fleet.gateways as [RunningGateway];
	const eras = ["2025-11-25", "2026-07-28"] as const;
	const clients = await Promise.all(eras.map((era) => PlainClient.open(`${base}/mcp?catalog=full`, era)));
	closers.push(() => clients.map((client) => client.close()));
	return { fleet, aliases, clients, one: new Samples(), many: new Samples(), busy: 0, cpu: 0 };
}

async function call({ aliases, clients }: Lane, at: number): Promise<void> {
	const alias = aliases[Math.floor(Math.random() * aliases.length)] as string;
	await (clients[at % clients.length] as PlainClient).setVolume(`${alias}__self_audio_speaker_set_volume`);
}

function cpuOf({ gateways }: Fleet): number {
	return gateways.reduce((sum, { program }) => sum + program.cpuTime, 0);
}

async function startGateways(size: number, closers: Closers): Promise<RunningGateway[]> {
	const nats =
		size === 1 ? undefined : await NatsServer.start({ after: (close) => void closers.push(close as () => void) });
	const gateways: RunningGateway[] = [];
	for (let at = 0; at < size; at += 1) {
		const folder = temporaryFolder();
		const flags = nats === undefined ? [] : ["--cluster", nats.url, "--cluster-name", `gateway-${at}`];
		const gateway = await startGateway(folder, "--offline-wait", "100", ...flags);
		closers.push(() => gateway.program.stop("SIGKILL"));
		gateways.push(gateway);
	}
	return gateways;
}

/** Kills one of three gateways while clients of the other two call devices of all. */
async function measureKill(size: number, closers: Closers): Promise<Killed> {
	const [killed, ...others] = (await startGateways(3, closers)) as [RunningGateway, ...RunningGateway[]];
	const fleet = new ChaosFleet(
		size,
		[killed, ...others].map(({ deviceUrl }) => deviceUrl),
	);
	closers.push(() => fleet.close());
	await Promise.all([killed, ...others].map((gateway) => untilKnown(gateway, size)));
	const clients = await Promise.all(
		others.map(({ base }) => connectOverHttp(`${base}/mcp?catalog=full`, "2026-07-28")),
	);
	closers.push(() => Promise.all(clients.map((client) => client.close())));
	const counts = { answered: 0, lost: 0, offline: 0 };
	let isOver = false;
	let text = 0;
	const callers = Array.from({ length: AT_THE_SAME_TIME }, async (_, at) => {
		while (!isOver) {
			text += 1;
			const name = fleet.tools[Math.floor(Math.random() * size)] as string;
			const result = await (clients[at % clients.length] as Client).callTool({ name, arguments: { text: `${text}` } });
			const word = JSON.stringify(result.content);
			counts[result.isError !== true ? "answered" : word.includes("may have been carried out") ? "lost" : "offline"] +=
				1;
		}
	});
	await delay(2_000);
	await killed.program.stop("SIGKILL");
	const begin = performance.now();
	await untilBack(others, size);
	const back = performance.now() - begin;
	await delay(2_000);
	isOver = true;
	await Promise.all(callers);
	return { ...counts, doubled: [...fleet.carriedOut.values()].filter((count) => count > 1).length, back };
}

/** Waits until every device is connected to one of the gateways, and online at all of them. */
async function untilBack(gateways: readonly RunningGateway[], count: number): Promise<void> {
	for (;;) {
		const texts = await Promise.all(gateways.map(({ base }) => metricsOf(base)));
		const read = (name: string) =>
			texts.map((text) => Number(new RegExp(`^xs_mcp_gateway_devices_${name} (\\d+)$`, "m").exec(text)?.[1]));
		const [connected, elsewhere] = [read("connected"), read("elsewhere")];
		const isAll = connected.every((each, at) => each + (elsewhere[at] as number) === count);
		if (isAll && connected.reduce((sum, each) => sum + each, 0) === count) {
			return;
		}
		await delay(50);
	}
}

/** Runs a measurement, and undoes its steps. */
async function closing<T>(run: (closers: Closers) => Promise<T>): Promise<T> {
	const closers: Closers = [];
	try {
		return await run(closers);
	} finally {
		for (const close of closers.reverse()) {
			await close();
		}
	}
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
