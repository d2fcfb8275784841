import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ServerTool } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";
import { Gate } from "../testing/gate.js";
import { SET_VOLUME, WireDevice } from "../testing/gateway.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { type StartedProgram, startProgram } from "../testing/program.js";

const DEVICES = 50;

/** Rounds of failures: XS_MCP_ROUNDS for more. */
const ROUNDS = Number(process.env.XS_MCP_ROUNDS ?? 10);

/** The last kind of failure: none. */
const NO_FAILURE = 4;

/** One failure of so many lasts until its gateway has noticed it, which takes up to 9 s. The others end before. */
const NOTICED = 8;

const idOf = (index: number): string => `aa:bb:cc:00:02:${index.toString(16).padStart(2, "0")}`;

/** Numbers that a seed decides, from 0 to below a limit. */
function randomOf(seed: number): (limit: number) => number {
	let state = seed;
	return (limit) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state % limit;
	};
}

/** Gateways of a cluster, each behind a gate of its own, and devices that connect to any of them again and again. */
class Town {
	readonly random: (limit: number) => number;
	readonly gates: Gate[] = [];
	readonly gateways: StartedProgram[] = [];
	/** How often each call has reached a device, by its argument. */
	readonly arrived = new Map<number, number>();
	readonly #devices: (WireDevice | undefined)[] = [];
	#calls = 0;
	#isOver = false;

	constructor(seed: number) {
		this.random = randomOf(seed);
	}

	async start(t: TestContext, nats: NatsServer, count: number): Promise<void> {
		for (let at = 0; at < count; at += 1) {
			const gate = await Gate.open(t, nats.port);
			this.gates.push(gate);
			const flags = { cluster: gate.url, clusterName: `g${at}`, offlineWait: 100 };
			this.gateways.push(await startProgram(t, flags));
		}
		await Promise.all(Array.from({ length: DEVICES }, async (_, index) => await this.connect(t, index)));
	}

	/** Connects a device to any gateway; it returns whenever it is disconnected. */
	async connect(t: TestContext, index: number): Promise<void> {
		const onCall = ({ arguments: args }: { arguments?: unknown }) => {
			const { volume } = args as { volume: number };
			this.arrived.set(volume, (this.arrived.get(volume) ?? 0) + 1);
			return { content: [] };
		};
		const gateway = this.gateways[this.random(this.gateways.length)] as StartedProgram;
		const device = await WireDevice.connectTo(t, gateway.deviceUrl, { id: idOf(index), tools: [TOOL], onCall });
		const before = this.#devices[index];
		this.#devices[index] = device;
		void device.disconnected().then(async () => {
			await delay(50);
			if (!this.#isOver && this.#devices[index] === device) {
				await this.connect(t, index);
			}
		});
		await before?.unplug();
	}

	/** Devices return no more. */
	stop(): void {
		this.#isOver = true;
	}

	/** Calls any device at any gateway. Settles also if that fails. */
	async call(): Promise<void> {
		this.#calls += 1;
		const { gateway } = this.gateways[this.random(this.gateways.length)] as StartedProgram;
		const server = gateway.servers.find(idOf(this.random(DEVICES)));
		await server?.call(TOOL as ServerTool, { volume: this.#calls }, { principal: "somebody" }).catch(() => {});
	}

	/** Whether a gateway has noticed that it cannot reach NATS: it has no devices of others. */
	isAlone(at: number): boolean {
		return (
			this.gateways[at]?.gateway.servers.all.every(({ connection }) => connection?.identity.gateway === undefined) ===
			true
		);
	}

	/** The devices as each gateway shows them: alias, and the gateway that has it. */
	get views(): string[] {
		return this.gateways.map(({ gateway }, at) =>
			gateway.servers.all
				.map(
					({ id, alias, online, connection }) => `${id} ${alias} ${online} ${connection?.identity.gateway ?? `g${at}`}`,
				)
				.sort()
				.join("\n"),
		);
	}
}

const TOOL = { ...SET_VOLUME, inputSchema: { type: "object", properties: { volume: { type: "integer" } } } };

describe("gateways of a cluster, while NATS and the way to it fail", { skip: whyNoNats }, () => {
	for (const count of [2, 3]) {
		it(`repeat no call, lose no device and show the same in the end: ${count} gateways`, async (t) => {
			const town = new Town(count);
			// Before the gateways are closed.
			t.after(() => town.stop());
			const nats = await NatsServer.start(t);
			await town.start(t, nats, count);
			for (let round = 0; round < ROUNDS; round += 1) {
				const at = town.random(count);
				const gate = town.gates[at] as Gate;
				const fail = [() => gate.cut(), () => gate.silence(), () => nats.kill(), () => nats.pause(), () => {}];
				const kind = town.random(fail.length);
				await fail[kind]?.();
				const moves = Array.from({ length: 10 }, () => town.connect(t, town.random(DEVICES)));
				const calls = Array.from({ length: 20 }, () => town.call());
				await Promise.all(moves);
				if (kind !== NO_FAILURE && town.random(NOTICED) === 0) {
					await until(() => town.isAlone(at), `g${at} has noticed the failure ${kind}`);
				}
				gate.restore();
				if (kind === 2) {
					await nats.run();
				} else if (kind === 3) {
					nats.resume();
				}
				await Promise.all(calls);
			}
			await until(() => {
				const [first = "", ...others] = town.views;
				return first.split(" true ").length === DEVICES + 1 && others.every((view) => view === first);
			}, "every gateway shows every device online, and the same");
			const doubled = [...town.arrived].filter(([, times]) => times > 1);
			assert.deepEqual(doubled, []);
			assert.ok(town.arrived.size > 0);
		});
	}
});
