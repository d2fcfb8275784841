import type { Era } from "../../e2e/clients.js";
import { knownDevices, untilKnown } from "../../e2e/gateway-process.js";
import { Program, typeScript } from "../../host-test/support/program.js";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import { AT_THE_SAME_TIME, CALLS, CALLS_PER_TURN, describeSamples, ERAS, Lanes } from "./lanes.js";
import { LISTING_TOKEN, startBoundGateway, startLightDevices } from "./light-fleet.js";
import { openPlainClient } from "./plain-client.js";
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
		say(`Milliseconds; ${CALLS} calls each, one after the other, in turns of ${CALLS_PER_TURN}, then as many ${AT_THE_SAME_TIME} at a time. CPU is
that of the whole process. The devices are sockets in one process that answer at once; each call is to another one.
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
		compare(lane.busyCpuTime / CALLS, server.busyCpuTime / CALLS),
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
