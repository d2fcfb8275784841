import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createConnection } from "node:net";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import mqttPacket from "mqtt-packet";
import { bootstrap } from "xs-mcp-gateway/testing/bootstrap";
import { WireDevice, type WireDeviceOptions } from "xs-mcp-gateway/testing/gateway";
import { makeStateFolder } from "xs-mcp-gateway/testing/program";
import { EVIL_TOOLS } from "xs-mcp-manager/testing/evil-schemas";
import { makeChip, whyNotXs } from "../../host-test/node/chip.js";
import { until } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { knownDevices, type RunningGateway, startGateway } from "../gateway-process.js";
import { ATTACK_TIME } from "./limits.js";

// Devices that attack the gateway, clients that attack a chip through it, and a gateway that is killed while it binds devices.
// `npm run soak -- attacks` repeats each attack for longer.

const MAX_GROWTH = 200 * 2 ** 20;

/** More open than before: worker threads, and connections that are kept for reuse. */
const MAX_MORE_HANDLES = 60;

interface Row {
	readonly attack: string;
	readonly rounds: number;
	readonly "RSS before, MB": string;
	readonly "RSS after, MB": string;
	readonly "handles before": number;
	readonly "handles after": number;
	readonly restarts: number;
	readonly "slowest /healthz, ms": string;
}

const rows: Row[] = [];

/** A GET request over a connection of its own: the gateway may close one that is kept open just when a request is sent. */
async function get(url: string): Promise<void> {
	const [response] = (await once(request(url, { agent: false }).end(), "response")) as [IncomingMessage];
	await response.toArray();
}

/**
 * Polls the gateway's health until it is stopped, and returns the longest response time: a figure for the table, because it
 * depends on the machine. A request without a response fails.
 */
function watchHealth({ base }: RunningGateway): () => Promise<number> {
	let watching = true;
	let slowest = 0;
	const watched = (async () => {
		while (watching) {
			const start = performance.now();
			await get(`${base}/healthz`);
			slowest = Math.max(slowest, performance.now() - start);
			await delay(50);
		}
	})();
	// Awaited below.
	watched.catch(() => {});
	return async () => {
		watching = false;
		await watched;
		return slowest;
	};
}

/** Each takes some seconds, until the gateway gives up: only a soak has the time for all. */
const TOOLS = EVIL_TOOLS.slice(0, ATTACK_TIME === 0 ? 1 : undefined);

/** Arguments that exceed a chip's memory: arrays, numbers, nesting, and a text in an unknown argument. */
const HEAVY_ARGUMENTS: readonly Record<string, unknown>[] = [
	{ volume: 1, x: Array.from({ length: 1_400 }, () => []) },
	{ volume: 1, x: Array.from({ length: 4_000 }, (_, at) => at % 10) },
	{ volume: 1, x: "x".repeat(24_000) },
	{ volume: 1, x: "x".repeat(70_000) },
	{ volume: 1, x: JSON.parse("[".repeat(60) + "]".repeat(60)) },
];

let lastDevice = 0;

function nextId(): string {
	lastDevice += 1;
	return `02:00:00:00:${[lastDevice >> 8, lastDevice & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;
}

async function isKnown(gateway: RunningGateway, id: string): Promise<boolean> {
	return (await knownDevices(gateway)).some((device) => device.id === id);
}

describe("the gateway under attack", () => {
	let gateway: RunningGateway;
	let deviceUrl: string;
	let mqttPort: number;

	before(async () => {
		gateway = await startGateway(makeStateFolder(), "--mqtt", "--mqtt-port", "0");
		deviceUrl = gateway.deviceUrl;
		mqttPort = Number(gateway.program.said(/"mqtt":"mqtt:\/\/[^"]*:(\d+)/));
	});
	after(async () => {
		await gateway.program.stop();
		console.table(rows);
	});

	async function campaign(attack: string, round: () => Promise<void>, restarts = () => 0): Promise<void> {
		const { program } = gateway;
		const [rss, handles] = [program.residentBytes, program.openHandles];
		const health = watchHealth(gateway);
		const end = Date.now() + ATTACK_TIME;
		let rounds = 0;
		do {
			await round();
			rounds += 1;
		} while (Date.now() < end);
		const slowest = await health();
		const hasClosed = () => !(program.openHandles - handles > MAX_MORE_HANDLES);
		const hasShrunk = () => !(program.residentBytes - rss > MAX_GROWTH);
		await until(() => hasClosed() && hasShrunk(), "connections and memory are given back");
		rows.push({
			attack,
			rounds,
			"RSS before, MB": (rss / 2 ** 20).toFixed(0),
			"RSS after, MB": (program.residentBytes / 2 ** 20).toFixed(0),
			"handles before": handles,
			"handles after": program.openHandles,
			restarts: restarts() + (program.runs ? 0 : 1),
			"slowest /healthz, ms": slowest.toFixed(0),
		});
		assert.ok(program.runs, "the gateway runs");
		assert.equal(restarts(), 0, "restarts of the device");
	}

	const connect = (t: TestContext, options: WireDeviceOptions): Promise<WireDevice> =>
		WireDevice.connectTo(t, deviceUrl, options);

	async function clientOf(t: TestContext, id: string): Promise<Client> {
		await until(() => isKnown(gateway, id), "the device is known");
		const client = await connectOverHttp(`${gateway.base}/mcp/${id}`, "2026-07-28");
		t.after(() => client.close());
		return client;
	}

	it("stays well when schemas of devices are meant to take unbounded time", async (t) => {
		await campaign("schemas that take unbounded time", async () => {
			const id = nextId();
			// The gateway remembers the schemas that it has given up: each round has its own.
			const tools = TOOLS.map(({ name, inputSchema }) => ({ name, inputSchema: { ...inputSchema, title: id } }));
			const device = await connect(t, { id, tools });
			const client = await clientOf(t, id);
			const calls = TOOLS.map(({ name, args }) => client.callTool({ name, arguments: args }));
			// Rejects unless every call is answered.
			await Promise.all(calls);
			assert.equal(device.calls[0]?.name, "doubling", "the device gets what cannot be checked in time");
			await client.close();
			await device.unplug();
		});
	});

	it("keeps a chip from arguments that it cannot take", { skip: whyNotXs }, async (t) => {
		const chip = await makeChip(deviceUrl);
		t.after(() => chip.stop());
		let restarts = 0;
		chip.on("exit", () => {
			restarts += 1;
		});
		await chip.start();
		const client = await clientOf(t, chip.macAddress);
		const name = "self.screen.set_brightness";
		const round = async (): Promise<void> => {
			await Promise.allSettled(
				HEAVY_ARGUMENTS.map((args) => client.callTool({ name: "self.get_device_status", arguments: args })),
			);
			await Promise.allSettled(
				HEAVY_ARGUMENTS.map((args) => client.callTool({ name, arguments: { brightness: 5, ...args } })),
			);
			assert.equal((await client.callTool({ name: "self.get_device_status" })).isError ?? false, false);
		};
		await campaign("arguments too large for a chip", round, () => restarts);
	});

	it("stays well when devices flood it, and when they never read", async (t) => {
		await campaign("floods, and devices that never read", async () => {
			const flood = await connect(t, { id: nextId() });
			const deaf = await connect(t, { id: nextId() });
			deaf.stopReading();
			for (let at = 0; at < 2_000; at += 1) {
				flood.notify("notifications/progress", { progressToken: at, progress: at });
			}
			for (let at = 0; at < 20; at += 1) {
				deaf.ask(at, "x".repeat(900_000));
			}
			await delay(500);
			await Promise.all([flood.unplug(), deaf.unplug()]);
		});
	});

	it("stays well when a device lists 400 tools of 0.9 MB", async (t) => {
		const tool = { name: "big", description: "x".repeat(900_000), inputSchema: { type: "object" } };
		await campaign("a list of 400 x 0.9 MB", async () => {
			const device = await connect(t, { id: nextId(), tools: [tool], pages: 400 });
			await device.disconnected();
		});
	});

	it("stays well when MQTT devices retain messages and leave QoS 2 messages unreleased", async () => {
		await campaign("retained messages, QoS 2", async () => {
			await floodMqtt(mqttPort, nextId());
		});
	});

	it("lets another device in while 64 slow devices are asked for their tools", async (t) => {
		await campaign("64 slow devices", async () => {
			const slow = await Promise.all(
				Array.from({ length: 64 }, () => connect(t, { id: nextId(), listsNothing: true })),
			);
			const id = nextId();
			const device = await connect(t, { id });
			await until(() => isKnown(gateway, id), "the other device is known");
			await Promise.all([...slow, device].map((each) => each.unplug()));
		});
	});
});

it("a gateway that is killed while it binds devices, binds others at once when it is back, and keeps those that it has told of their token", async (t) => {
	const folder = makeStateFolder();
	const flags = ["--bootstrap", "open", "--mqtt", "--mqtt-address", "0.0.0.0", "--mqtt-port", "0", "--no-announce"];
	const end = Date.now() + ATTACK_TIME;
	const bound = new Map<string, string>();
	let round = 0;
	const inputClient = (id: string) => ({ id, clientId: `00000000-0000-4000-8000-${id.replaceAll(":", "")}` });
	const idOf = (at: number) =>
		`02:00:00:${[round >> 8, round & 255, at].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;
	do {
		round += 1;
		const gateway = await startGateway(folder, ...flags);
		t.after(() => gateway.program.stop("SIGKILL"));
		for (const [id, token] of bound) {
			const { body } = await bootstrap(gateway, inputClient(id));
			assert.equal(body.mqtt.password, token, "a bound device has its token again");
		}
		const first = await bootstrap(gateway, inputClient(idOf(0)));
		assert.equal(first.status, 200, "a new device is bound although the gateway was killed");
		bound.set(idOf(0), first.body.mqtt.password);
		const others = Array.from({ length: 8 }, async (_, at) => {
			const { status, body } = await bootstrap(gateway, inputClient(idOf(at + 1)));
			if (status === 200) {
				bound.set(idOf(at + 1), body.mqtt.password);
			}
		});
		await Promise.any(others);
		await gateway.program.stop("SIGKILL");
		await Promise.allSettled(others);
	} while (round < 3 || Date.now() < end);
});

/** 500 retained messages on topics of others, and 300 QoS 2 messages without PUBREL. Settles when it is disconnected. */
async function floodMqtt(port: number, clientId: string): Promise<void> {
	const socket = createConnection(port, "127.0.0.1");
	socket.on("error", () => {});
	socket.resume();
	const closed = new Promise((resolve) => socket.once("close", resolve));
	const connect = { cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clean: false, keepalive: 0 } as const;
	socket.write(mqttPacket.generate({ ...connect, clientId }));
	const message = { cmd: "publish", payload: "x".repeat(10_000), dup: false } as const;
	for (let at = 0; at < 500; at += 1) {
		socket.write(mqttPacket.generate({ ...message, topic: `other/${clientId}/${at}`, qos: 0, retain: true }));
	}
	for (let messageId = 1; messageId <= 300; messageId += 1) {
		const topic = `xs-mcp/${clientId}/up`;
		socket.write(mqttPacket.generate({ ...message, topic, qos: 2, messageId, retain: false }));
	}
	await closed;
}
