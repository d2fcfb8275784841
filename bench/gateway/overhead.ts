import { once } from "node:events";
import type { Client } from "@modelcontextprotocol/client";
import { Gateway, WebSocketDevices } from "../../gateway/src/index.js";
import { connectOverHttp, connectOverStdio, type Era } from "../../host-test/e2e/clients.js";
import {
	gatewayArgs,
	gatewayFlags,
	type RunningGateway,
	startGateway,
	startVirtualDevice,
	untilKnown,
} from "../../host-test/e2e/gateway-process.js";
import type { Program } from "../../host-test/e2e/program.js";
import { callTool } from "../../host-test/support/call-tool.js";
import { freePort } from "../../host-test/support/port.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import { until } from "../../host-test/support/until.js";
import type { Report } from "../report.js";
import { bundleDirectServer, startDirectServer } from "./direct-server-bundle.js";
import { type Column, Lanes } from "./lanes.js";
import { installPeers, PEERS, startPeer } from "./peers.js";
import { volumeCall } from "./volume-call.js";

const TOOL = "self.audio_speaker.set_volume";
const HTTP_ERAS: readonly Era[] = ["2025-11-25", "2026-07-28"];
const COLUMNS: readonly Column[] = [...HTTP_ERAS.map((era) => `HTTP, ${era}` as const), "stdio"];
const DEVICE = "device";

/** Every way of a call from the same client, in one run: `tools/call` of set_volume, one after the other. */
export async function benchOverhead({ say, row, header }: Report): Promise<void> {
	const lanes = new Lanes();
	try {
		const engine = await openEvery(lanes);
		await lanes.measure();
		say(`## A call, there and back: milliseconds, p50 / p99 of ${lanes.callsPerLane} calls`);
		say();
		header("client →", ...COLUMNS);
		const measured = (path: string, column: Column): string =>
			lanes.samples(path, column)?.describe(lanes.callsPerLane) ?? "–";
		for (const path of lanes.paths.filter((each) => each !== DEVICE)) {
			row(path, ...COLUMNS.map((column) => measured(path, column)));
		}
		say();
		say(
			`Of that the device's part, asked over its WebSocket as the gateway asks it: ${measured(DEVICE, "WebSocket")}.`,
		);
		say(
			`The client is the official SDK's v2, in the bench's process. Every other program has a process of its own, the`,
		);
		say(`device two: ${engine}, and Node, which has its socket. The ways take turns of ${lanes.callsPerTurn} calls.`);
		say("supergateway starts its server anew for each request of 2026-07-28.");
	} finally {
		await lanes.close();
	}
}

async function openEvery(lanes: Lanes): Promise<string> {
	const server = await bundleDirectServer();
	const engine = await openGateway(lanes);
	await openStdioGateway(lanes);
	await openMqttGateway(lanes);
	await openDevice(lanes);
	await openDirectServer(lanes, server);
	const whyNoPeers = installPeers();
	if (whyNoPeers !== undefined) {
		console.error(`Not compared: ${whyNoPeers}`);
		return engine;
	}
	for (const peer of PEERS) {
		const { program, url } = await startPeer(peer, [process.execPath, server, "stdio"]);
		lanes.onClose(() => program.stop());
		await openHttp(lanes, `${peer.name} ${peer.version} → SDK v2 server over stdio`, () => url);
	}
	return engine;
}

async function openHttp(lanes: Lanes, path: string, urlOf: (era: Era) => string): Promise<void> {
	for (const era of HTTP_ERAS) {
		const client = await connectOverHttp(urlOf(era), era);
		lanes.onClose(() => client.close());
		lanes.add(path, `HTTP, ${era}`, volumeCall(client, await nameOfTool(client)));
	}
}

async function openStdio(lanes: Lanes, path: string, args: readonly string[]): Promise<void> {
	const client = await connectOverStdio(args);
	lanes.onClose(() => client.close());
	lanes.add(path, "stdio", volumeCall(client, await nameOfTool(client)));
}

/** The tool's name in the list, once it is there: a gateway puts the device's alias in front, and replaces dots. */
async function nameOfTool(client: Client): Promise<string> {
	let found: string | undefined;
	await until(async () => {
		const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
		found = tools.find(({ name }) => name.endsWith("set_volume"))?.name;
		return found !== undefined;
	}, `a server lists ${TOOL}`);
	return found as string;
}

/** A gateway that runs by itself, with the device that clients call. Resolves with the engine's name. */
async function openGateway(lanes: Lanes): Promise<string> {
	const gateway = await startGateway(temporaryFolder());
	lanes.onClose(() => gateway.program.stop());
	const device = await openVirtualDevice(lanes, gateway, gateway.deviceUrl);
	await openHttp(lanes, "gateway → device on XS", () => `${gateway.base}/mcp`);
	await openStdio(lanes, "bridge (`stdio`) → gateway → device on XS", gatewayArgs("stdio", "--url", gateway.base));
	return device.said(/^device \S+ on (.*)$/m);
}

/** The same with a device that comes in through the gateway's own MQTT broker. */
async function openMqttGateway(lanes: Lanes): Promise<void> {
	const gateway = await startGateway(temporaryFolder(), "--mqtt", "--mqtt-port", "0");
	lanes.onClose(() => gateway.program.stop());
	await openVirtualDevice(lanes, gateway, gateway.program.said(/"mqtt":"([^"]+)"/));
	await openHttp(lanes, "gateway → device on XS, over MQTT", () => `${gateway.base}/mcp`);
}

async function openVirtualDevice(lanes: Lanes, gateway: RunningGateway, url: string): Promise<Program> {
	const device = await startVirtualDevice(url);
	lanes.onClose(() => device.stop());
	await untilKnown(gateway, 1);
	return device;
}

/** A gateway that its client has started. */
async function openStdioGateway(lanes: Lanes): Promise<void> {
	const folder = temporaryFolder();
	const port = String(await freePort());
	const device = await startVirtualDevice(`ws://127.0.0.1:${port}/`);
	lanes.onClose(() => device.stop());
	// The later flag wins.
	await openStdio(
		lanes,
		"gateway → device on XS",
		gatewayArgs("--stdio", ...gatewayFlags(folder), "--websocket-port", port),
	);
}

/** A backend that asks the device itself, as the gateway does: what of a call is the device's part. */
async function openDevice(lanes: Lanes): Promise<void> {
	const gateway = await Gateway.open();
	const sockets = new WebSocketDevices(gateway.servers, { port: 0 });
	const online = once(gateway.servers, "online");
	const program = await startVirtualDevice(`ws://127.0.0.1:${await sockets.listen()}/`);
	lanes.onClose(async () => {
		await program.stop();
		await gateway.close();
		await sockets.close();
	});
	const [{ session }] = await online;
	lanes.add(DEVICE, "WebSocket", async () => {
		const { isError } = await callTool(session, TOOL, { volume: 50 });
		if (isError) {
			throw new Error("the device failed");
		}
	});
}

async function openDirectServer(lanes: Lanes, server: string): Promise<void> {
	const { program, urlOf } = await startDirectServer(server);
	lanes.onClose(() => program.stop());
	const path = "SDK v2 server";
	await openHttp(lanes, path, urlOf);
	await openStdio(lanes, path, [server, "stdio"]);
}
