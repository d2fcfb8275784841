import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { NatsServer, whyNoNats } from "../../gateway/test/cluster/support/nats-server.js";
import { makeStateFolder } from "../../gateway/test/support/program.js";
import { connectOverHttp } from "../e2e/clients.js";
import { type RunningGateway, startGateway } from "../e2e/gateway-process.js";
import { TestNetwork } from "../e2e/test-network.js";
import { freePort } from "../support/port.js";
import { until } from "../support/until.js";
import { ChaosFleet } from "./chaos-fleet.js";
import { CHAOS_DEVICES, CHAOS_TIME } from "./limits.js";
import { Tally } from "./tally.js";

// With any failure in a cluster, a call is carried out at most once, its client gets a true answer, and everything recovers.
// `npm run soak` runs it for a minute.

const NAMES = ["a", "b", "c"] as const;

/** Calls in progress at each gateway. */
const CALLERS = 8;

/** A gateway that is killed and started again at the same ports, and its network to NATS. */
class ChaosGateway {
	readonly network: TestNetwork;
	readonly #folder: string;
	readonly #flags: readonly string[];
	#running!: RunningGateway;

	private constructor(folder: string, network: TestNetwork, flags: readonly string[]) {
		this.network = network;
		this.#folder = folder;
		this.#flags = flags;
	}

	static async start(t: TestContext, nats: NatsServer, name: string): Promise<ChaosGateway> {
		const network = await TestNetwork.to(t, nats.port);
		const ports = ["--http-port", String(await freePort()), "--websocket-port", String(await freePort())];
		const cluster = ["--cluster", `nats://127.0.0.1:${network.port}`, "--cluster-name", name];
		const flags = [...ports, ...cluster, "--offline-wait", "100", "--no-announce"];
		const gateway = new ChaosGateway(makeStateFolder(), network, flags);
		await gateway.start();
		t.after(() => gateway.stop("SIGKILL"));
		return gateway;
	}

	async start(): Promise<void> {
		this.#running = await startGateway(this.#folder, ...this.#flags);
	}

	async stop(signal: NodeJS.Signals): Promise<void> {
		this.send("SIGCONT");
		await this.#running.program.stop(signal);
	}

	/** Sends a signal that does not end it. */
	send(signal: NodeJS.Signals): void {
		const { pid, runs } = this.#running.program;
		if (pid !== undefined && runs) {
			process.kill(pid, signal);
		}
	}

	get base(): string {
		return this.#running.base;
	}

	get deviceUrl(): string {
		return this.#running.deviceUrl;
	}

	/** The devices that it has online, its own and those of others. */
	async online(): Promise<number> {
		const text = await (await fetch(`${this.base}/metrics`)).text();
		const count = (name: string): number => Number(new RegExp(`^xs_mcp_gateway_${name} (\\d+)$`, "m").exec(text)?.[1]);
		return count("devices_connected") + count("devices_elsewhere");
	}
}

interface Cluster {
	readonly nats: NatsServer;
	readonly gateways: readonly ChaosGateway[];
	readonly fleet: ChaosFleet;
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

/** Failures, and how each ends. */
const FAILURES: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = {
	"kill -9 of a gateway": async ({ gateways }) => {
		const gateway = pick(gateways);
		await gateway.stop("SIGKILL");
		await delay(1_000);
		await gateway.start();
	},
	"a gateway stops for a moment": async ({ gateways }) => {
		const gateway = pick(gateways);
		gateway.send("SIGSTOP");
		await delay(3_000);
		gateway.send("SIGCONT");
	},
	"NATS restarts": async ({ nats }) => {
		await nats.kill();
		await delay(2_000);
		await nats.run();
	},
	"a gateway loses NATS": async ({ gateways }) => {
		const { network } = pick(gateways);
		await network.cut();
		await delay(3_000);
		await network.restore();
	},
	"a gateway hears nothing of NATS": async ({ gateways }) => {
		const { network } = pick(gateways);
		network.silence();
		await delay(4_000);
		await network.restore();
	},
	"devices lose their network": async ({ fleet }) => {
		fleet.cut(0.3);
		await delay(1_000);
	},
	"a gateway stops for longer than its lease": async ({ gateways, fleet }) => {
		const gateway = pick(gateways);
		gateway.send("SIGSTOP");
		await delay(5_000);
		fleet.leave(gateway.deviceUrl);
		await delay(6_000);
		gateway.send("SIGCONT");
	},
	"a gateway is upgraded": async ({ gateways }) => {
		const gateway = pick(gateways);
		await gateway.stop("SIGTERM");
		await gateway.start();
	},
};

async function startAll(t: TestContext): Promise<Cluster> {
	const nats = await NatsServer.start(t);
	const gateways: ChaosGateway[] = [];
	for (const name of NAMES) {
		gateways.push(await ChaosGateway.start(t, nats, name));
	}
	const fleet = new ChaosFleet(
		CHAOS_DEVICES,
		gateways.map(({ deviceUrl }) => deviceUrl),
	);
	t.after(() => fleet.close());
	return { nats, gateways, fleet };
}

async function untilAllOnline({ gateways }: Cluster): Promise<void> {
	const online = new Map<ChaosGateway, number>();
	for (const gateway of gateways) {
		const isOnline = async (): Promise<boolean> => {
			online.set(gateway, await gateway.online().catch(() => 0));
			return online.get(gateway) === CHAOS_DEVICES;
		};
		await until(isOnline, "every gateway has every device online").catch((error: Error) => {
			throw new Error(`${error.message} (of ${CHAOS_DEVICES}: ${[...online.values()].join(", ")})`);
		});
	}
}

describe("a cluster in which everything fails", { skip: whyNoNats }, () => {
	it("answers no call wrongly, twice, or not at all, and has every device again", async (t) => {
		const cluster = await startAll(t);
		const { fleet, gateways } = cluster;
		await untilAllOnline(cluster);
		// Without sessions, so that a client goes on when its gateway has started again.
		const connect = ({ base }: ChaosGateway) => connectOverHttp(`${base}/mcp?catalog=full`, "2026-07-28");
		const clients = await Promise.all(gateways.map(connect));
		t.after(() => Promise.all(clients.map((client) => client.close())));
		const tally = new Tally(fleet);
		let isOver = false;
		const callers = clients.flatMap((client) =>
			Array.from({ length: CALLERS }, async () => {
				while (!isOver) {
					const isAnswered = await tally.call(client, pick(fleet.tools));
					await delay(isAnswered ? 0 : 50);
				}
			}),
		);
		const end = performance.now() + CHAOS_TIME;
		do {
			for (const [name, fail] of Object.entries(FAILURES)) {
				await fail(cluster);
				t.diagnostic(`${name}: ${tally}`);
				await delay(500);
			}
		} while (performance.now() < end);
		isOver = true;
		await Promise.all(callers);
		await untilAllOnline(cluster);
		const limit = pLimit(CALLERS);
		const everywhere = clients.flatMap((client) => fleet.tools.map((tool) => limit(() => tally.call(client, tool))));
		const isAnswered = await Promise.all(everywhere);
		t.diagnostic(`${CHAOS_DEVICES} devices: ${tally}`);
		const { wrong, doubled, untrue, unanswered } = tally;
		assert.deepEqual({ wrong, doubled, untrue, unanswered }, { wrong: [], doubled: [], untrue: [], unanswered: [] });
		assert.equal(isAnswered.filter((each) => !each).length, 0, "every device answers at every gateway");
	});
});
