import { join } from "node:path";
import { connectOverHttp, type Era } from "../../host-test/e2e/clients.js";
import { knownDevices, type RunningGateway, untilKnown } from "../../host-test/e2e/gateway-process.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import type { Report } from "../report.js";
import { startDirectServer } from "./direct-server-bundle.js";
import { Lanes } from "./lanes.js";
import { startBoundGateway, startLightDevices, writeTools } from "./light-fleet.js";
import { volumeCall } from "./volume-call.js";

const ERAS: readonly Era[] = ["2025-11-25", "2026-07-28"];
const SDK_SERVER = "SDK v2 server";

/** Gateways with that many devices beside the SDK's own server, in one run: what a call costs the program that serves it. */
export async function benchCalls({ say, row, header }: Report, sizes: readonly number[]): Promise<void> {
	const lanes = new Lanes();
	try {
		await openDirectServer(lanes);
		for (const size of sizes) {
			await openFleet(lanes, size);
		}
		await lanes.measure();
		say("## What a call costs the program that serves it");
		say();
		header("", ...ERAS.flatMap((era) => [`${era}: CPU`, "p50 / p99"]));
		for (const path of lanes.paths) {
			row(path, ...ERAS.flatMap((era) => cellsOf(lanes, path, `HTTP, ${era}`)));
		}
		say();
		say(
			`Milliseconds; ${lanes.callsPerLane} calls each, one after the other, in turns of ${lanes.callsPerTurn}. CPU is`,
		);
		say(
			"that of the whole process. The devices are sockets in one process that answer at once; each call is to another one.",
		);
		say("Each device has a token of its own, and so have the clients of the gateway.");
	} finally {
		await lanes.close();
	}
}

function cellsOf(lanes: Lanes, path: string, column: `HTTP, ${Era}`): string[] {
	const cpuTime = lanes.cpuTimePerCall(path, column);
	const ratio = cpuTime / lanes.cpuTimePerCall(SDK_SERVER, column);
	return [
		`${cpuTime.toFixed(2)} (${ratio.toFixed(2)}x)`,
		lanes.samples(path, column)?.describe(lanes.callsPerLane) ?? "–",
	];
}

async function openDirectServer(lanes: Lanes): Promise<void> {
	const { program, urlOf } = await startDirectServer();
	lanes.onClose(() => program.stop());
	for (const era of ERAS) {
		const client = await connectOverHttp(urlOf(era), era);
		lanes.onClose(() => client.close());
		lanes.add(SDK_SERVER, `HTTP, ${era}`, volumeCall(client, "self.audio_speaker.set_volume"), program);
	}
}

async function openFleet(lanes: Lanes, size: number): Promise<void> {
	const folder = temporaryFolder();
	const gateway = await startBoundGateway(folder, size);
	lanes.onClose(() => gateway.program.stop());
	const tools = join(folder, "tools.json");
	await writeTools(tools);
	const devices = await startLightDevices(gateway.deviceUrl, size, tools);
	lanes.onClose(() => devices.stop());
	await untilKnown(gateway, size);
	await addLanes(lanes, gateway, size);
}

async function addLanes(lanes: Lanes, gateway: RunningGateway, size: number): Promise<void> {
	const aliases = (await knownDevices(gateway)).map(({ alias }) => alias);
	for (const era of ERAS) {
		const client = await connectOverHttp(`${gateway.base}/mcp`, era, gateway.token);
		lanes.onClose(() => client.close());
		const calls = aliases.map((alias) => volumeCall(client, `${alias}__self_audio_speaker_set_volume`));
		const random = (): Promise<void> => (calls[Math.floor(Math.random() * size)] as () => Promise<void>)();
		lanes.add(`gateway, ${size === 1 ? "1 device" : `${size} devices`}`, `HTTP, ${era}`, random, gateway.program);
	}
}
