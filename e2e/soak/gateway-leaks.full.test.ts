import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGateway, makeLog, type RunningGateway, readConfiguration } from "xs-mcp-gateway";
import { makeStateFolder } from "xs-mcp-gateway/testing/program";
import type { Server } from "xs-mcp-manager/core";
import { bundle, VirtualDevice } from "xs-mcp-virtual-device";
import { callTool } from "../../host-test/support/call-tool.js";
import { until } from "../../host-test/support/testing.js";
import { connectOverHttp, connectOverStdio, connectV1OverHttp } from "../clients.js";
import { ENGINE, startDevice } from "../fixtures.js";
import { gatewayArgs, gatewayFlags } from "../gateway-process.js";
import { PROCESS_ROUNDS, ROUNDS } from "./limits.js";

// Clients and devices that connect and disconnect leave nothing behind. `npm run soak` repeats that a thousand times.

const firmware = await bundle();

const MAC_ADDRESS = "02:00:00:00:00:01";
const VOLUME = { name: "virtual_000001__self_audio_speaker_set_volume", arguments: { volume: 30 } };

/** A gateway that writes every log line and keeps none. */
async function startUnlimited(t: TestContext): Promise<RunningGateway> {
	const ports = { httpPort: 0, websocketPort: 0, mqttPort: 0, udpPort: 0, mqtt: true };
	const limits = { maxRequestsPerMinute: 0, sessionIdleTimeout: 5_000 };
	const settings = readConfiguration({ flags: { ...ports, ...limits, stateFolder: makeStateFolder() } });
	const gateway = await createGateway({ settings, log: makeLog("trace", { write() {} }) });
	t.after(() => gateway.close());
	return gateway;
}

async function startWithDevice(t: TestContext): Promise<RunningGateway> {
	const gateway = await startUnlimited(t);
	await startDevice(t, ENGINE, { config: { backend: gateway.urls.websocket as string }, macAddress: MAC_ADDRESS });
	await until(() => gateway.servers.all[0]?.online === true, "the device is known");
	return gateway;
}

async function sessions({ urls }: RunningGateway): Promise<number> {
	// Not fetch: it would keep the connection.
	const [response] = (await once(get(new URL("/metrics", urls.clients), { agent: false }), "response")) as [
		IncomingMessage,
	];
	return Number(/^xs_mcp_gateway_sessions (\d+)$/m.exec(await text(response))?.[1]);
}

/** Repeats a round, and asserts that the process then holds no more than before. */
async function repeatRound(
	t: TestContext,
	gateway: RunningGateway,
	rounds: number,
	round: (at: number) => Promise<void>,
) {
	const listening = (): number => gateway.servers.listenerCount("changed") + gateway.servers.listenerCount("online");
	const before = resources();
	await round(0);
	await until(async () => (await sessions(gateway)) === 0, "the first session has ended");
	const listeners = listening();
	const heap = [heapBytes()];
	for (let at = 1; at < rounds; at += 1) {
		await round(at);
		if (at % Math.ceil(rounds / 4) === 0) {
			heap.push(heapBytes());
		}
	}
	let more: Resources = {};
	const isClosed = (): boolean => {
		more = grown(before, resources());
		return Object.keys(more).length === 0;
	};
	// Node's server keeps unused connections for 5 s. What never closes fails below, by name.
	await until(isClosed, "all is closed").catch(() => {});
	heap.push(heapBytes());
	t.diagnostic(`open before: ${JSON.stringify(before)}, after ${rounds} rounds: ${JSON.stringify(resources())}`);
	t.diagnostic(`heap on the way: ${heap.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(", ")} MB`);
	assert.deepEqual(more, {}, "open now, and not before");
	assert.equal(listening(), listeners, "listeners");
	await until(async () => (await sessions(gateway)) === 0, "sessions of clients that left are idle for too long");
}

const CLIENTS: Readonly<Record<string, (url: string, at: number) => Promise<void>>> = {
	async "2025-11-25 that end their session or just leave"(url, at) {
		const client = await connectOverHttp(url, "2025-11-25");
		assert.equal((await client.callTool(VOLUME)).isError, false);
		if (at % 2 === 0) {
			await (client.transport as StreamableHTTPClientTransport).terminateSession();
		}
		await client.close();
	},
	async "2026-07-28 that listen for changes"(url) {
		const client = await connectOverHttp(url, "2026-07-28");
		await client.listen({ toolsListChanged: true });
		assert.equal((await client.callTool(VOLUME)).isError, false);
		await client.close();
	},
	async "the SDK's first generation"(url) {
		const client = await connectV1OverHttp(url);
		assert.equal((await client.callTool(VOLUME)).isError, false);
		await client.close();
	},
};

describe(`after ${ROUNDS} rounds`, () => {
	it(`clients of every kind over HTTP (${Object.keys(CLIENTS).join("; ")}) have left nothing behind`, async (t) => {
		const gateway = await startWithDevice(t);
		await repeatRound(t, gateway, ROUNDS, async (at) => {
			for (const round of Object.values(CLIENTS)) {
				await round(gateway.urls.clients as string, at);
			}
		});
	});

	for (const transport of ["websocket", "mqtt"] as const) {
		it(`devices on ${ENGINE.kind} over ${transport} have left nothing behind`, async (t) => {
			const gateway = await startUnlimited(t);
			const backend = gateway.urls[transport] as string;
			await repeatRound(t, gateway, ROUNDS, () => plugInAndOut(gateway, backend));
			assert.equal(gateway.servers.all.length, 1, "it is always the same device");
		});
	}
});

async function plugInAndOut(gateway: RunningGateway, backend: string): Promise<void> {
	const device = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => ENGINE.start({ onTrace }),
		config: { backend, clientId: MAC_ADDRESS },
		macAddress: MAC_ADDRESS,
	});
	const isOnline = () => gateway.servers.find(MAC_ADDRESS)?.online === true;
	await device.start();
	await until(isOnline, "the device is online");
	const { connection } = gateway.servers.find(MAC_ADDRESS) as Server;
	assert.equal((await callTool(connection, "self.audio_speaker.set_volume", VOLUME.arguments))?.isError, false);
	device.stop();
	await until(() => !isOnline(), "the device is offline");
}

describe(`after ${PROCESS_ROUNDS} rounds`, () => {
	for (const era of ["2025-11-25", "2026-07-28"] as const) {
		it(`clients of ${era} that start a bridge to the gateway have left nothing behind`, async (t) => {
			const gateway = await startWithDevice(t);
			await repeatRound(t, gateway, PROCESS_ROUNDS, async () => {
				const client = await connectOverStdio(
					gatewayArgs("stdio", "--url", new URL(gateway.urls.clients as string).origin),
					era,
				);
				assert.equal((await client.callTool(VOLUME)).isError, false);
				await client.close();
			});
		});
	}

	it("clients that start a gateway of their own have left nothing behind", async (t) => {
		const gateway = await startUnlimited(t);
		await repeatRound(t, gateway, PROCESS_ROUNDS, async () => {
			const client = await connectOverStdio(gatewayArgs("--stdio", ...gatewayFlags(makeStateFolder())));
			assert.deepEqual((await client.listTools()).tools, []);
			await client.close();
		});
	});
});

type Resources = Readonly<Record<string, number>>;

function resources(): Resources {
	const counts: Record<string, number> = {};
	for (const kind of process.getActiveResourcesInfo()) {
		counts[kind] = (counts[kind] ?? 0) + 1;
	}
	return process.platform === "linux" ? { ...counts, files: readdirSync("/proc/self/fd").length } : counts;
}

function grown(before: Resources, now: Resources): Resources {
	return Object.fromEntries(
		Object.entries(now)
			.map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const)
			.filter(([, more]) => more > 0),
	);
}

function heapBytes(): number {
	globalThis.gc?.();
	return process.memoryUsage().heapUsed;
}
