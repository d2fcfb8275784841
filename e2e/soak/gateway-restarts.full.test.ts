import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { makeStateFolder } from "xs-mcp-gateway/testing/program";
import { freePort, until } from "../../host-test/support/testing.js";
import { metricsOf, type RunningGateway, startGateway } from "../gateway-process.js";
import { ChaosFleet } from "./chaos-fleet.js";
import { startDeepServer } from "./deep-server.js";
import { KILL_INTERVAL, RESTARTS_CLIENTS, RESTARTS_DEVICES, RESTARTS_TIME } from "./limits.js";
import { SessionClient } from "./session-client.js";
import { StalledReaders } from "./stalled-readers.js";
import { Tally } from "./tally.js";

// A gateway with many clients and devices is killed again and again, while some clients stop reading and some answers nest
// 5,000 deep: a call is carried out at most once, its client gets a true answer and goes on with its session.
// `npm run soak -- restarts` does so for half an hour.

const STALLED_READERS = 6;

const REST = 100;

const DEEP_PART = 0.02;

const SERVER_PART = 0.05;

const CALLERS = 8;

const MB = 1_048_576;

class KilledGateway {
	readonly starts: number[] = [];
	readonly memory: number[] = [];
	readonly #folder = makeStateFolder();
	#flags: readonly string[] = [];
	#running!: RunningGateway;
	/** Odd while it is away. */
	#changes = 1;
	#isOver = false;

	/** @param url of a server that it serves */
	static async start(t: TestContext, url: string): Promise<KilledGateway> {
		const self = new KilledGateway();
		const serversFile = join(self.#folder, "servers.json");
		writeFileSync(serversFile, JSON.stringify({ servers: [{ id: "deep", url, enabled: true }] }));
		const ports = ["--http-port", String(await freePort()), "--websocket-port", String(await freePort())];
		self.#flags = [...ports, "--servers-file", serversFile, "--no-announce"];
		await self.#start();
		t.after(async () => {
			self.#isOver = true;
			await self.#running.program.stop("SIGKILL");
		});
		return self;
	}

	/** Rejects if it has ended by itself before, or its test has ended. */
	async restart(): Promise<void> {
		this.memory.push(this.residentBytes());
		this.#changes += 1;
		await this.#running.program.stop("SIGKILL");
		await this.#start();
	}

	async #start(): Promise<void> {
		const begin = performance.now();
		this.#running = await startGateway(this.#folder, ...this.#flags);
		this.starts.push(performance.now() - begin);
		this.#changes += 1;
		if (this.#isOver) {
			await this.#running.program.stop("SIGKILL");
			throw new Error("its test has ended");
		}
	}

	get base(): string {
		return this.#running.base;
	}

	get deviceUrl(): string {
		return this.#running.deviceUrl;
	}

	residentBytes(): number {
		return this.#running.program.residentBytes;
	}

	readonly watch = (): (() => boolean) => {
		const before = this.#changes;
		return () => before % 2 === 1 || before !== this.#changes;
	};

	async untilAllOnline(): Promise<void> {
		const online = ["connected", "known"].map((state) => `devices_${state} ${RESTARTS_DEVICES}`);
		online.push("servers_connected 1");
		await until(async () => {
			await delay(200);
			const metrics = await metricsOf(this.base);
			return online.every((line) => metrics.includes(`\nxs_mcp_gateway_${line}\n`));
		}, "every device is online");
	}
}

interface Soak {
	readonly gateway: KilledGateway;
	readonly fleet: ChaosFleet;
	readonly clients: readonly SessionClient[];
	readonly readers: StalledReaders;
	readonly tally: Tally;
}

async function startAll(t: TestContext): Promise<Soak> {
	const counted: { fleet?: ChaosFleet } = {};
	const gateway = await KilledGateway.start(t, await startDeepServer(t, (text) => counted.fleet?.count(text)));
	const fleet = new ChaosFleet(RESTARTS_DEVICES, [gateway.deviceUrl]);
	counted.fleet = fleet;
	t.after(() => fleet.close());
	await gateway.untilAllOnline();
	const url = `${gateway.base}/mcp?catalog=full`;
	const clients = await Promise.all(
		Array.from({ length: RESTARTS_CLIENTS }, (_, number) => SessionClient.connect(url, number)),
	);
	t.after(() => Promise.all(clients.map(({ client }) => client.close())));
	const readers = await StalledReaders.start(t, url, "deep__big", STALLED_READERS);
	return { gateway, fleet, clients, readers, tally: new Tally({ carriedOut: fleet.carriedOut, watch: gateway.watch }) };
}

async function callUntil(isOver: () => boolean, self: SessionClient, { tally, fleet }: Soak): Promise<void> {
	while (!isOver()) {
		const isDeep = Math.random() < DEEP_PART;
		const ofServer = isDeep ? "deep__deep" : "deep__echo";
		const ofDevice = fleet.tools[Math.floor(Math.random() * fleet.tools.length)] as string;
		const name = Math.random() < SERVER_PART ? ofServer : ofDevice;
		if (await tally.call(self.client, name, isDeep)) {
			self.answers += 1;
		}
		await delay(Math.random() * REST);
	}
}

async function killUntilEnd({ gateway, clients }: Soak): Promise<void> {
	const end = performance.now() + RESTARTS_TIME;
	do {
		await delay(KILL_INTERVAL);
		await gateway.restart();
		const answers = clients.map((client) => client.answers);
		const isAnswered = ({ answers: now }: SessionClient, at: number): boolean => now > (answers[at] as number);
		await until(() => clients.every(isAnswered), "every client is answered after a restart");
	} while (performance.now() < end);
}

/** Few lines: the runner shows only so many. */
function report(t: TestContext, { gateway, readers, tally }: Soak, before: number): void {
	const megabytes = (bytes: number): string => (bytes / MB).toFixed(0);
	const { starts, memory } = gateway;
	t.diagnostic(`${RESTARTS_DEVICES} devices, ${RESTARTS_CLIENTS} clients, ${readers.stalled} stalled: ${tally}`);
	t.diagnostic(`${memory.length} kills, started again in ${starts.map((ms) => (ms / 1_000).toFixed(1)).join(", ")} s`);
	const [first, last] = [before, gateway.residentBytes()].map(megabytes);
	t.diagnostic(`memory: ${first} MB at first, ${memory.map(megabytes).join(", ")} before kills, ${last} MB at last`);
	t.diagnostic(`reasons: ${[...tally.reasons].map(([reason, count]) => `${count} x ${reason}`).join("; ")}`);
}

it("a gateway that is killed again and again, answers no call wrongly, twice, or not at all, and every client goes on with its session", async (t) => {
	const soak = await startAll(t);
	const { gateway, fleet, clients, readers, tally } = soak;
	const before = gateway.residentBytes();
	let isOver = false;
	t.after(() => {
		isOver = true;
	});
	const callers = clients.map((client) => callUntil(() => isOver, client, soak));
	await killUntilEnd(soak);
	isOver = true;
	await Promise.all(callers);
	await gateway.untilAllOnline();
	const limit = pLimit(CALLERS);
	const client = (clients[1] as SessionClient).client;
	const isAnswered = await Promise.all(fleet.tools.map((tool) => limit(() => tally.call(client, tool))));
	report(t, soak, before);
	const { wrong, doubled, untrue, unanswered, refused } = tally;
	assert.deepEqual({ wrong, doubled, untrue, unanswered }, { wrong: [], doubled: [], untrue: [], unanswered: [] });
	assert.equal(isAnswered.filter((each) => !each).length, 0, "every device answers");
	assert.ok(readers.stalled > 0 && refused > 0, "some readers stalled, some answers were too deep");
	for (const { revision, initialized, sessions } of clients) {
		const isStateless = revision === "2026-07-28";
		assert.deepEqual([initialized, sessions.size], isStateless ? [0, 0] : [1, 1], `a client of ${revision}`);
	}
});
